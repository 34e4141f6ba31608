// SPDX-License-Identifier: MIT
//
// What happens to the text of a result that is longer than a model should get: the policy slot `output_cap`, the cap
// that cuts (default) and the one that refuses. Sizes are code points, and no cut falls inside one. Not for results
// that are relayed: those are never touched.
#pragma once

#include <comcp/result.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace comcp::inline COMCP_ABI
{
namespace policy
{

/// What the slot `output_cap` must offer: the text that may be shown, or a fault.
template <class T>
concept output_cap = std::copyable<T> && requires(const T& cap, std::string text) {
    { cap.apply(std::move(text)) } -> std::same_as<result<std::string>>;
};

/// The default bound of a result's text.
inline constexpr std::size_t default_output_cap = 12'000;

/// A bound that both caps below have; zero throws `errc::invalid_argument`.
class code_point_limit
{
public:
    std::size_t limit() const noexcept { return limit_; }

protected:
    explicit code_point_limit(std::size_t limit);

private:
    std::size_t limit_;
};

/// Cuts text and says so at its end: "[cut: 11961 of 48213 characters shown]". The marker counts as part of the cap.
class truncate : public code_point_limit
{
public:
    explicit truncate(std::size_t limit = default_output_cap) : code_point_limit(limit) {}

    result<std::string> apply(std::string text) const;

private:
    static std::string marker(std::size_t shown, std::size_t total);
};

/// Refuses text that is too long: a fault `errc::too_large` that names both sizes.
class reject : public code_point_limit
{
public:
    explicit reject(std::size_t limit = default_output_cap) : code_point_limit(limit) {}

    result<std::string> apply(std::string text) const;
};

} // namespace policy

/// Any output cap, erased, so that an answer can carry the one of the client that made the call. Copies are cheap:
/// small plain caps are held in place, others are shared.
class any_output_cap
{
public:
    any_output_cap() : any_output_cap(policy::truncate()) {}

    // The order matters: asking whether this class itself is a cap, while it is copied, would ask itself again.
    template <class Cap>
        requires(!std::same_as<Cap, any_output_cap> && policy::output_cap<Cap>)
    explicit any_output_cap(const Cap& cap)
    {
        if constexpr (fits<Cap>) {
            std::memcpy(small_.data(), &cap, sizeof(Cap));
        } else {
            large_ = std::make_shared<const Cap>(cap);
        }
        apply_ = [](const any_output_cap& self, std::string text) -> result<std::string> {
            if constexpr (fits<Cap>) {
                alignas(Cap) std::array<std::byte, sizeof(Cap)> copy;
                std::memcpy(copy.data(), self.small_.data(), sizeof(Cap));
                return reinterpret_cast<const Cap*>(copy.data())->apply(std::move(text));
            } else {
                return static_cast<const Cap*>(self.large_.get())->apply(std::move(text));
            }
        };
    }

    result<std::string> apply(std::string text) const { return apply_(*this, std::move(text)); }

private:
    static constexpr std::size_t capacity = 2 * sizeof(void*);
    template <class Cap>
    static constexpr bool fits = std::is_trivially_copyable_v<Cap> && sizeof(Cap) <= capacity;

    result<std::string> (*apply_)(const any_output_cap&, std::string) = nullptr;
    std::array<std::byte, capacity> small_{};
    std::shared_ptr<const void> large_;
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/policy/impl/output_cap.ipp>
#endif
