#include "launch/turns.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fstream>
#include <tuple>
#include <utility>

#include "base/clock.h"

namespace mantissa {

namespace {

enum SlotState : std::int32_t { Absent = 0, Waiting = 1, Running = 2, Paused = 3, Ended = 4 };

struct Slot {
    std::atomic<std::int64_t> steps;
    std::atomic<std::int64_t>
        waiting_since_ns;  // monotonic time of the machine: breaks ties of the step count
    std::atomic<std::int32_t> state;
};

Error file_error(const std::filesystem::path& file) {
    return {ErrorCode::InputOutput, "can't use " + file.string() + ": " + std::strerror(errno),
            "the runs folder must be writable"};
}

Result<int> open_file(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) return file_error(file);
    return descriptor;
}

Result<void*> map_table(int descriptor, const std::filesystem::path& file, std::size_t size) {
    // posix_fallocate instead of ftruncate: a full disk is an error now, not a SIGBUS at the first write.
    if (const int failed = ::posix_fallocate(descriptor, 0, static_cast<off_t>(size)); failed != 0) {
        errno = failed;
        return file_error(file);
    }
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return file_error(file);
    return memory;
}

}  // namespace

/// Layout of turn.steps. Lock-free atomics work across processes in shared memory.
struct TurnGate::Table {
    std::atomic<std::uint32_t> changes;  // futex word: any change of the table wakes those who wait
    std::array<Slot, most_turn_slots> slots;
    static_assert(std::atomic<std::int64_t>::is_always_lock_free &&
                  std::atomic<std::int32_t>::is_always_lock_free);

    void wake() {
        changes.fetch_add(1);
        ::syscall(SYS_futex, &changes, FUTEX_WAKE, most_turn_slots, nullptr, nullptr, 0);
    }
    /// The limit covers what nobody can announce: the death of the turn's holder, and a stop posted to this
    /// run.
    void wait(std::uint32_t seen, std::chrono::milliseconds limit) {
        const timespec time{limit.count() / 1000, (limit.count() % 1000) * 1'000'000};
        ::syscall(SYS_futex, &changes, FUTEX_WAIT, seen, &time, nullptr, 0);
    }
};

Result<std::unique_ptr<TurnGate>> TurnGate::join(const std::filesystem::path& comparison_folder,
                                                 std::size_t slot, std::chrono::milliseconds turn) {
    if (slot >= most_turn_slots) {
        return Error{ErrorCode::Internal,
                     "a comparison takes turns among " + std::to_string(most_turn_slots) + " runs at most",
                     ""};
    }
    std::unique_ptr<TurnGate> gate(new TurnGate);
    gate->m_slot = slot;
    gate->m_turn_ns = std::chrono::nanoseconds(turn).count();
    auto turn_file = open_file(comparison_folder / "turn.lock");
    if (!turn_file) return turn_file.error();
    gate->m_turn_descriptor = *turn_file;
    auto steps_file = open_file(comparison_folder / "turn.steps");
    if (!steps_file) return steps_file.error();
    gate->m_steps_descriptor = *steps_file;
    auto table = map_table(*steps_file, comparison_folder / "turn.steps", sizeof(Table));
    if (!table) return table.error();
    gate->m_table = static_cast<Table*>(*table);
    struct flock alive {};
    alive.l_type = F_WRLCK;
    alive.l_whence = SEEK_SET;
    alive.l_start = static_cast<off_t>(slot);
    alive.l_len = 1;
    if (::fcntl(gate->m_steps_descriptor, F_OFD_SETLK, &alive) != 0)
        return file_error(comparison_folder / "turn.steps");
    auto& mine = gate->m_table->slots[slot];
    mine.steps = 0;
    mine.state = Absent;
    return gate;
}

TurnGate::~TurnGate() {
    if (m_table != nullptr) {
        run_ended();
        ::munmap(m_table, sizeof(Table));
    }
    if (m_steps_descriptor >= 0) ::close(m_steps_descriptor);
    if (m_turn_descriptor >= 0) ::close(m_turn_descriptor);
}

bool TurnGate::has_alive_worker(std::size_t slot) const {
    struct flock probe {};
    probe.l_type = F_WRLCK;
    probe.l_whence = SEEK_SET;
    probe.l_start = static_cast<off_t>(slot);
    probe.l_len = 1;
    return ::fcntl(m_steps_descriptor, F_OFD_GETLK, &probe) == 0 && probe.l_type != F_UNLCK;
}

bool TurnGate::is_waiting(std::size_t slot) const {
    return slot != m_slot && m_table->slots[slot].state == Waiting && has_alive_worker(slot);
}

bool TurnGate::is_first_in_line() const {
    const auto rank = [this](std::size_t slot) {
        const auto& entry = m_table->slots[slot];
        const std::int64_t steps = entry.steps;
        // Before the first step nobody has waited for a turn: the control, slot 0, begins.
        return std::tuple(steps, steps > 0 ? entry.waiting_since_ns.load() : 0, slot);
    };
    for (std::size_t slot = 0; slot < most_turn_slots; ++slot) {
        if (is_waiting(slot) && rank(slot) < rank(m_slot)) return false;
    }
    return true;
}

void TurnGate::take_turn(const RunControl& control) {
    m_table->slots[m_slot].waiting_since_ns = monotonic_ns();
    m_table->slots[m_slot].state = Waiting;
    m_table->wake();
    if (m_on_waiting) m_on_waiting(true);
    while (!control.is_ending()) {
        const std::uint32_t seen = m_table->changes;
        if (is_first_in_line() && ::flock(m_turn_descriptor, LOCK_EX | LOCK_NB) == 0) {
            m_has_turn = true;
            m_turn_started_ns = monotonic_ns();
            break;
        }
        m_table->wait(seen, std::chrono::milliseconds(20));
    }
    m_table->slots[m_slot].state = Running;
    if (m_on_waiting) m_on_waiting(false);
}

void TurnGate::give_turn() {
    if (m_has_turn) ::flock(m_turn_descriptor, LOCK_UN);
    m_has_turn = false;
    m_table->wake();
}

void TurnGate::wait_for_turn(std::int64_t next_step, const RunControl& control) {
    if (m_ended) return;
    m_table->slots[m_slot].steps.store(next_step, std::memory_order_relaxed);
    if (m_has_turn) {
        if (monotonic_ns() - m_turn_started_ns < m_turn_ns) return;
        bool other_goes = false;
        for (std::size_t slot = 0; slot < most_turn_slots && !other_goes; ++slot) {
            other_goes = is_waiting(slot) && m_table->slots[slot].steps <= next_step;
        }
        if (!other_goes) return;
        give_turn();
    }
    take_turn(control);
}

void TurnGate::paused(bool waiting, const RunControl& control) {
    if (m_ended) return;
    if (waiting) {
        m_table->slots[m_slot].state = Paused;
        give_turn();
    } else {
        take_turn(control);
    }
}

void TurnGate::run_ended() {
    if (m_ended) return;
    m_ended = true;
    m_table->slots[m_slot].state = Ended;
    give_turn();
}

std::int64_t read_turn_steps(const std::filesystem::path& comparison_folder, std::size_t slot) {
    std::ifstream file(comparison_folder / "turn.steps", std::ios::binary);
    std::array<char, sizeof(TurnGate::Table)> bytes{};
    if (slot >= most_turn_slots || !file.read(bytes.data(), bytes.size())) return 0;
    std::int64_t steps = 0;
    std::memcpy(&steps, bytes.data() + offsetof(TurnGate::Table, slots) + slot * sizeof(Slot), sizeof steps);
    return steps;
}

Result<TurnHold> TurnHold::take(const std::filesystem::path& comparison_folder) {
    TurnHold hold;
    auto turn_file = open_file(comparison_folder / "turn.lock");
    if (!turn_file) return turn_file.error();
    hold.m_turn_descriptor = *turn_file;
    if (::flock(hold.m_turn_descriptor, LOCK_EX | LOCK_NB) != 0)
        return file_error(comparison_folder / "turn.lock");
    const auto steps_file = open_file(comparison_folder / "turn.steps");
    if (!steps_file) return steps_file.error();
    auto table = map_table(*steps_file, comparison_folder / "turn.steps", sizeof(TurnGate::Table));
    ::close(*steps_file);
    if (!table) return table.error();
    hold.m_table = *table;
    return hold;
}

TurnHold::TurnHold(TurnHold&& other) noexcept
    : m_table(std::exchange(other.m_table, nullptr)),
      m_turn_descriptor(std::exchange(other.m_turn_descriptor, -1)) {}

TurnHold::~TurnHold() {
    if (m_turn_descriptor >= 0) ::close(m_turn_descriptor);
    if (m_table == nullptr) return;
    static_cast<TurnGate::Table*>(m_table)->wake();
    ::munmap(m_table, sizeof(TurnGate::Table));
}

bool TurnHold::is_ready(std::size_t slot) const {
    return static_cast<const TurnGate::Table*>(m_table)->slots[slot].state != Absent;
}

}  // namespace mantissa
