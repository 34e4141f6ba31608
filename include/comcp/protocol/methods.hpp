// SPDX-License-Identifier: MIT
//
// The names of the methods, so that each is spelled once. Not for which revision has which: that table is in
// wire/codec.hpp.
#pragma once

#include <comcp/config.hpp>

#include <string_view>

namespace comcp::inline COMCP_ABI::method
{

inline constexpr std::string_view initialize = "initialize";
inline constexpr std::string_view ping = "ping";

inline constexpr std::string_view tools_list = "tools/list";
inline constexpr std::string_view tools_call = "tools/call";

inline constexpr std::string_view resources_list = "resources/list";
inline constexpr std::string_view resources_templates_list = "resources/templates/list";
inline constexpr std::string_view resources_read = "resources/read";
inline constexpr std::string_view resources_subscribe = "resources/subscribe";
inline constexpr std::string_view resources_unsubscribe = "resources/unsubscribe";

inline constexpr std::string_view prompts_list = "prompts/list";
inline constexpr std::string_view prompts_get = "prompts/get";

inline constexpr std::string_view completion_complete = "completion/complete";
inline constexpr std::string_view logging_set_level = "logging/setLevel";

inline constexpr std::string_view roots_list = "roots/list";
inline constexpr std::string_view sampling_create_message = "sampling/createMessage";
inline constexpr std::string_view elicitation_create = "elicitation/create";

inline constexpr std::string_view tasks_get = "tasks/get";
inline constexpr std::string_view tasks_result = "tasks/result";
inline constexpr std::string_view tasks_cancel = "tasks/cancel";
inline constexpr std::string_view tasks_list = "tasks/list";

inline constexpr std::string_view initialized = "notifications/initialized";
inline constexpr std::string_view cancelled = "notifications/cancelled";
inline constexpr std::string_view progress = "notifications/progress";
inline constexpr std::string_view message = "notifications/message";
inline constexpr std::string_view tools_list_changed = "notifications/tools/list_changed";
inline constexpr std::string_view resources_list_changed = "notifications/resources/list_changed";
inline constexpr std::string_view resources_updated = "notifications/resources/updated";
inline constexpr std::string_view prompts_list_changed = "notifications/prompts/list_changed";
inline constexpr std::string_view roots_list_changed = "notifications/roots/list_changed";
inline constexpr std::string_view tasks_status = "notifications/tasks/status";
inline constexpr std::string_view elicitation_complete = "notifications/elicitation/complete";

} // namespace comcp::inline COMCP_ABI::method
