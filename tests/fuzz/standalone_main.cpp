// SPDX-License-Identifier: MIT
// A stand-in for libFuzzer where the compiler has none (g++): replays the given files and folders, then runs random
// mutations of them until the time is over. Not guided by coverage; the real search is done by the clang build.
//
//   fuzz_NAME [-max_total_time=SECONDS] [-runs=N] [-max_len=BYTES] [-seed=N] [FILE|FOLDER]...
//
// Other options of libFuzzer are ignored. An input that crashes is written to ./crash-standalone.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace
{

using bytes = std::vector<std::uint8_t>;

bytes current;

void save_current()
{
    if (std::FILE* file = std::fopen("crash-standalone", "wb")) {
        std::fwrite(current.data(), 1, current.size(), file);
        std::fclose(file);
    }
}

extern "C" void on_abort(int)
{
    save_current();
    std::fputs("fuzz: aborted; the input is in ./crash-standalone\n", stderr);
    std::_Exit(1);
}

void run_one(const bytes& input)
{
    current = input;
    current.shrink_to_fit(); // so that the sanitizer sees a read past the end
    LLVMFuzzerTestOneInput(current.data(), current.size());
}

void read_into(std::vector<bytes>& seeds, const std::filesystem::path& path)
{
    if (std::filesystem::is_directory(path)) {
        std::vector<std::filesystem::path> entries;
        for (const auto& entry : std::filesystem::directory_iterator(path)) entries.push_back(entry.path());
        std::sort(entries.begin(), entries.end());
        for (const auto& entry : entries) read_into(seeds, entry);
        return;
    }
    if (path.filename() == "crash-standalone") return;
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

class mutator
{
public:
    mutator(unsigned long seed, std::size_t max_size) : random_(seed), max_size_(max_size) {}

    bytes make(const std::vector<bytes>& seeds)
    {
        bytes result = seeds[below(seeds.size())];
        for (std::size_t steps = 1 + below(8); steps > 0; --steps) step(result, seeds);
        if (result.size() > max_size_) result.resize(max_size_);
        return result;
    }

private:
    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

    std::uint8_t any_byte()
    {
        static constexpr std::string_view telling = "{}[]\":,\\\r\n \t0123456789eE+-.;=/%dataventi:utrlsfn\x7f\xc3\xff";
        if (below(2) == 0) return static_cast<std::uint8_t>(telling[below(telling.size())]);
        return static_cast<std::uint8_t>(below(256));
    }

    void step(bytes& data, const std::vector<bytes>& seeds)
    {
        const std::size_t at = below(data.size() + 1);
        const auto position = data.begin() + static_cast<std::ptrdiff_t>(at);
        switch (data.empty() ? 0 : below(7)) {
        case 0: data.insert(position, any_byte()); break;
        case 1: data[below(data.size())] = any_byte(); break;
        case 2: data[below(data.size())] ^= static_cast<std::uint8_t>(1U << below(8)); break;
        case 3: data.resize(at); break;
        case 4: { // drop a piece
            const std::size_t count = std::min(1 + below(16), data.size() - at);
            data.erase(position, position + static_cast<std::ptrdiff_t>(count));
            break;
        }
        case 5: { // say a piece twice
            const std::size_t count = std::min(1 + below(32), data.size() - at);
            const bytes piece(position, position + static_cast<std::ptrdiff_t>(count));
            data.insert(data.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(), piece.end());
            break;
        }
        default: { // go on with the end of another seed
            const bytes& other = seeds[below(seeds.size())];
            const std::size_t from = below(other.size() + 1);
            data.resize(at);
            data.insert(data.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
            break;
        }
        }
    }

    std::mt19937_64 random_;
    std::size_t max_size_;
};

} // namespace

int main(int argc, char** argv)
{
    unsigned long seconds = 0, runs = 0, seed = 1, max_size = 4096;
    bool bounded = false;
    std::vector<bytes> seeds;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto number = [&] { return std::strtoul(word.c_str() + word.find('=') + 1, nullptr, 10); };
        if (word.starts_with("-max_total_time=")) {
            seconds = number();
            bounded = true;
        } else if (word.starts_with("-runs=")) {
            runs = number();
            bounded = true;
        } else if (word.starts_with("-max_len=")) {
            max_size = number();
        } else if (word.starts_with("-seed=")) {
            seed = number();
        } else if (!word.starts_with("-")) {
            read_into(seeds, word);
        }
    }

    std::signal(SIGABRT, on_abort);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_set_death_callback(save_current);
#endif

    const auto begin = std::chrono::steady_clock::now();
    unsigned long done = 0;
    run_one({});
    for (const bytes& input : seeds) run_one(input);
    const std::size_t files = seeds.size();
    if (seeds.empty()) seeds.emplace_back();
    if (bounded) {
        mutator mutations(seed, std::max<std::size_t>(max_size, 1));
        while (runs == 0 || done < runs) {
            if (seconds != 0 && std::chrono::steady_clock::now() - begin >= std::chrono::seconds(seconds)) break;
            if (seconds == 0 && runs == 0) break;
            run_one(mutations.make(seeds));
            ++done;
        }
    }
    current.clear();
    std::printf("%zu seeds and %lu mutations, no crash\n", files, done);
}
