// SPDX-License-Identifier: MIT
//
// A session store of files, for processes of one machine: a directory for each session, a file for its record and one
// for each of its streams. Files are replaced whole, so that a process that is killed leaves no half of one. For tests:
// it waits for the disk on the thread of the loop.
#pragma once

#include <comcp/json/value.hpp>
#include <comcp/json/write.hpp>
#include <comcp/server/session_store.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support
{

class file_session_store final : public comcp::session_store
{
public:
    explicit file_session_store(std::filesystem::path at) : at_(std::move(at))
    {
        std::filesystem::create_directories(at_);
    }

    comcp::task<std::optional<std::string>> load(std::string session) override
    {
        const lock held(at_);
        const auto kept = read(record_of(session));
        if (!kept) co_return std::nullopt;
        co_return kept->substr(std::min(kept->find('\n'), kept->size() - 1) + 1);
    }

    comcp::task<void> save(std::string session, std::string owner, std::string record, comcp::session_save how) override
    {
        const lock held(at_);
        const std::string before = owner_of(session);
        if (how == comcp::session_save::renew && !before.empty() && before != owner) co_return;
        std::filesystem::create_directory(folder_of(session));
        write(record_of(session), owner + '\n' + record);
    }

    comcp::task<void> erase(std::string session, std::string owner) override
    {
        const lock held(at_);
        if (owner.empty() || owner_of(session) == owner) std::filesystem::remove_all(folder_of(session));
        co_return;
    }

    comcp::task<void> append(std::string session, std::vector<comcp::http::stream_change> changes) override
    {
        const lock held(at_);
        if (!std::filesystem::exists(folder_of(session))) co_return; // it was erased
        for (comcp::http::stream_change& each : changes) {
            using kind = comcp::http::stream_change::kind;
            const std::filesystem::path file = stream_of(session, each.stream);
            auto kept = read_stream(file);
            if (each.what == kind::opened) kept.emplace();
            if (each.what == kind::dropped) std::filesystem::remove(file);
            else if (kept) {
                kept->apply(std::move(each));
                write(file, text_of(*kept));
            }
        }
    }

    comcp::task<std::optional<comcp::stored_stream>> load_stream(std::string session, std::string stream) override
    {
        const lock held(at_);
        co_return read_stream(stream_of(session, stream));
    }

private:
    /// One process at a time.
    class lock
    {
    public:
        explicit lock(const std::filesystem::path& in)
            : fd_(::open((in / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600))
        {
            if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0) throw std::runtime_error("the store cannot be locked");
        }
        lock(const lock&) = delete;
        lock& operator=(const lock&) = delete;
        ~lock() { ::close(fd_); }

    private:
        int fd_;
    };

    /// The service promises it, and a name that leaves the directory must not be left to a promise.
    static const std::string& checked(const std::string& name)
    {
        constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        if (name.empty() || name.size() > 64 || name.find_first_not_of(allowed) != name.npos)
            throw std::runtime_error("no name of a file");
        return name;
    }

    std::filesystem::path folder_of(const std::string& session) const { return at_ / ("session." + checked(session)); }
    std::filesystem::path record_of(const std::string& session) const { return folder_of(session) / "record"; }
    std::filesystem::path stream_of(const std::string& session, const std::string& stream) const
    {
        return folder_of(session) / ("stream." + checked(stream));
    }

    std::string owner_of(const std::string& session) const
    {
        const auto kept = read(record_of(session));
        return kept ? kept->substr(0, kept->find('\n')) : std::string();
    }

    static std::optional<std::string> read(const std::filesystem::path& file)
    {
        std::ifstream from(file, std::ios::binary);
        if (!from) return std::nullopt;
        return std::string(std::istreambuf_iterator<char>(from), {});
    }

    static void write(const std::filesystem::path& file, std::string_view text)
    {
        std::filesystem::path whole = file;
        whole += ".new"; // the lock is held
        std::ofstream to(whole, std::ios::binary | std::ios::trunc);
        to << text;
        to.close();
        if (!to) throw std::runtime_error("the disk is full");
        std::filesystem::rename(whole, file);
    }

    static std::string text_of(const comcp::stored_stream& kept)
    {
        std::string out = R"({"owes":)";
        comcp::write_string(out, kept.owes);
        comcp::write_bool(out += R"(,"finished":)", kept.finished);
        comcp::write_integer(out += R"(,"last":)", kept.last);
        comcp::write_json(out += R"(,"events":)", kept.events);
        return out + '}';
    }

    static std::optional<comcp::stored_stream> read_stream(const std::filesystem::path& file)
    {
        const auto text = read(file);
        if (!text) return std::nullopt;
        const auto parsed = comcp::parse_json(*text, 3);
        const auto* from = parsed ? parsed->if_object() : nullptr;
        if (!from) return std::nullopt;
        comcp::stored_stream out;
        out.owes = comcp::string_member(*from, "owes").value_or("");
        out.finished = comcp::bool_member(*from, "finished").value_or(false);
        out.last = static_cast<std::uint64_t>(comcp::integer_member(*from, "last").value_or(0));
        if (const auto* events = comcp::array_member(*from, "events"))
            for (const auto& each : *events)
                if (const auto* event = each.if_string()) out.events.emplace_back(event->data(), event->size());
        return out;
    }

    std::filesystem::path at_;
};

} // namespace support
