// SPDX-License-Identifier: MIT
//
// An object of a type that is known by a small table only, so that code over many types is compiled once. Not for types
// that are copied or moved: the object stays where it was made.
#pragma once

#include <comcp/config.hpp>

#include <cstddef>
#include <memory>
#include <new>

namespace comcp::inline COMCP_ABI::detail
{

/// What there is to know of a type whose objects are made by default.
struct object_type
{
    std::size_t size;
    std::size_t alignment;
    void (*construct)(void* place);
    void (*destroy)(void* object) noexcept;
};

template <class T>
void construct_object(void* place)
{
    ::new (place) T{};
}

template <class T>
void destroy_object(void* object) noexcept
{
    static_cast<T*>(object)->~T();
}

template <class T>
inline constexpr object_type object_type_of{sizeof(T), alignof(T), &construct_object<T>, &destroy_object<T>};

/// A default-constructed object of the type. Small ones stand in place.
class erased_object
{
public:
    explicit erased_object(const object_type& type) : type_(type), heap_(nullptr, free_memory{type.alignment})
    {
        if (type.size > sizeof room_ || type.alignment > alignof(std::max_align_t))
            heap_.reset(::operator new(type.size, std::align_val_t(type.alignment)));
        type.construct(get());
    }
    ~erased_object() { type_.destroy(get()); }
    erased_object(const erased_object&) = delete;
    erased_object& operator=(const erased_object&) = delete;

    void* get() noexcept { return heap_ ? heap_.get() : room_; }

private:
    struct free_memory
    {
        std::size_t alignment;
        void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(alignment)); }
    };

    const object_type& type_;
    std::unique_ptr<void, free_memory> heap_;
    alignas(std::max_align_t) std::byte room_[256];
};

} // namespace comcp::inline COMCP_ABI::detail
