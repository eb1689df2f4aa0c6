using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>Kinds of calls to a disk, to select those that fail or are counted.</summary>
[Flags]
public enum DiskCalls
{
    None = 0,
    Open = 1 << 0,
    Read = 1 << 1,
    Write = 1 << 2,
    Allocate = 1 << 3,
    SetLength = 1 << 4,
    Sync = 1 << 5,
    List = 1 << 6,
    CreateDirectory = 1 << 7,
    Rename = 1 << 8,
    Link = 1 << 9,
    Delete = 1 << 10,
    SyncDirectory = 1 << 11,
    Lock = 1 << 12,
    Create = 1 << 13,

    /// <summary>The calls that fail on a read-only file system.</summary>
    Changing = Write | Allocate | SetLength | Sync | CreateDirectory | Rename | Link | Delete | SyncDirectory | Create,

    All = Changing | Open | Read | List | Lock,
}

/// <summary>
/// A planned failure of one matching call after <see cref="SimulatedDisk.Inject"/>.
/// </summary>
/// <param name="AtCall">The number of the matching call that fails, from 1.</param>
/// <param name="Error">The error with which it fails.</param>
public sealed record DiskFault(long AtCall, Errno Error)
{
    /// <summary>The kinds of calls that match.</summary>
    public DiskCalls Calls { get; init; } = DiskCalls.All;

    /// <summary>Only calls on paths that contain this text match; null for all paths.</summary>
    public string? PathContains { get; init; }

    /// <summary>Whether every matching call after it fails too.</summary>
    public bool Sticky { get; init; }

    /// <summary>The number of bytes of a failing write that reach the file.</summary>
    public int ShortWriteBytes { get; init; }
}

/// <summary>Counts calls and selects those that fail.</summary>
internal sealed class FaultPlan
{
    private readonly List<(DiskFault Fault, long Seen)> _faults = [];
    private readonly long[] _calls = new long[32]; // by the bit of their kind

    internal void Add(DiskFault fault) => _faults.Add((fault, 0));

    internal void Clear() => _faults.Clear();

    internal long Count(DiskCalls kinds)
    {
        long sum = 0;
        for (int bit = 0; bit < _calls.Length; bit++)
        {
            sum += ((int)kinds & (1 << bit)) != 0 ? _calls[bit] : 0;
        }

        return sum;
    }

    /// <summary>Counts one call. Returns the fault with which it fails, or null.</summary>
    internal DiskFault? Next(DiskCalls call, string path)
    {
        _calls[System.Numerics.BitOperations.Log2((uint)call)]++;
        DiskFault? hit = null;
        for (int i = 0; i < _faults.Count; i++)
        {
            var (fault, seen) = _faults[i];
            if (
                !fault.Calls.HasFlag(call)
                || (fault.PathContains is { } part && !path.Contains(part, StringComparison.Ordinal))
            )
            {
                continue;
            }

            _faults[i] = (fault, ++seen);
            if (seen == fault.AtCall || (fault.Sticky && seen > fault.AtCall))
            {
                hit ??= fault;
            }
        }

        return hit;
    }
}
