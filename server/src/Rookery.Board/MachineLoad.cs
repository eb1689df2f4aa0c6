using Rookery.Platform;

namespace Rookery.Board;

/// <summary>
/// Load of processors and memory of the whole machine, from /proc/stat and /proc/meminfo. Thread-safe.
/// </summary>
internal sealed class MachineLoad(IDisk disk, string proc) : IDisposable
{
    // proc(5): user nice system idle iowait irq softirq steal. Guest time is already part of the first two.
    private const int Fields = 8;
    private const int Idle = 3;
    private const int WaitingForDisk = 4;
    private const long BytesPerKilobyte = 1024;

    private readonly KernelFile _processors = new(disk, Path.Join(proc, "stat"));
    private readonly KernelFile _memory = new(disk, Path.Join(proc, "meminfo"));
    private readonly Lock _gate = new();

    public MachineUse Read()
    {
        lock (_gate)
        {
            Span<long> ticks = stackalloc long[Fields];
            bool isKnown = _processors.ReadLine("cpu "u8, ticks) == Fields;
            long total = 0;
            foreach (long field in ticks)
            {
                total += field;
            }

            return new MachineUse
            {
                BusyTicks = isKnown ? total - ticks[Idle] - ticks[WaitingForDisk] : null,
                TotalTicks = isKnown ? total : null,
                MemoryBytes = BytesOf("MemTotal:"u8),
                AvailableBytes = BytesOf("MemAvailable:"u8),
            };
        }
    }

    public void Dispose()
    {
        _processors.Dispose();
        _memory.Dispose();
    }

    private long? BytesOf(ReadOnlySpan<byte> name)
    {
        Span<long> kilobytes = stackalloc long[1];
        return _memory.ReadLine(name, kilobytes) == 1 ? kilobytes[0] * BytesPerKilobyte : null;
    }
}
