using System.Runtime.CompilerServices;
using Rookery.Platform;

namespace Rookery.Scripting.Running;

/// <summary>
/// The limits of one run: counts its steps and memory, and makes it fail beyond them. Reused for further runs.
/// </summary>
/// <param name="bytes">The texts and documents of the run.</param>
internal sealed class ScriptBudget(PooledBytes bytes)
{
    /// <summary>Number of bytes whose processing counts as one step.</summary>
    public const int BytesPerStep = 16;

    // Memory is reserved in multiples of this size.
    private const int ReservationBytes = 64 * 1024;

    private long _stepsLeft;
    private long _stepsAllowed;
    private long _reservedBytes;
    private long _heldBytes;

    /// <summary>
    /// Called to reserve bytes before the run holds more than <see cref="MemoryShare.BytesWithoutReservation"/>. If it
    /// returns false, the run fails. Null to apply only the limit of a run.
    /// </summary>
    public Func<long, bool>? MemorySource { get; set; }

    /// <summary>Maximum bytes for the values of the run.</summary>
    public int MemoryLimit { get; private set; }

    /// <summary>Memory of arrays and objects.</summary>
    public long ContainerBytes { get; set; }

    /// <summary>Number of steps taken.</summary>
    public long Steps => _stepsAllowed - Math.Max(_stepsLeft, 0);

    /// <summary>Begins a run. It has no steps until <see cref="Allow"/>.</summary>
    public void Reset(int memoryBytes)
    {
        MemoryLimit = memoryBytes;
        _stepsAllowed = _stepsLeft = 0;
        _reservedBytes = _heldBytes = 0;
    }

    /// <summary>Allows a number of steps.</summary>
    public void Allow(long steps)
    {
        _stepsLeft += steps;
        _stepsAllowed += steps;
    }

    /// <summary>Counts steps. The run fails if too few are left.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Spend(int steps)
    {
        if ((_stepsLeft -= steps) < 0)
        {
            FailForSteps();
        }
    }

    /// <summary>Counts the steps for processing bytes.</summary>
    public void SpendOnBytes(int count) => Spend(1 + (count / BytesPerStep));

    /// <summary>Counts the steps for parsing a number's digits, which takes longer than copying them.</summary>
    public void SpendOnDigits(int count)
    {
        const int DigitsPerStep = 4;
        Spend(1 + (count / DigitsPerStep));
    }

    /// <summary>
    /// Counts memory that a function needs in addition to the values, until it is released. The run fails beyond the
    /// limit.
    /// </summary>
    public void Hold(long more)
    {
        Require(more);
        _heldBytes += more;
    }

    /// <summary>Releases memory that <see cref="Hold"/> counted.</summary>
    public void ReleaseHeld(long held) => _heldBytes -= held;

    /// <summary>The memory counted by <see cref="Hold"/>, in bytes.</summary>
    public long HeldBytes => _heldBytes;

    /// <summary>Releases the memory counted since <see cref="HeldBytes"/> had this value.</summary>
    public void ReleaseHeldTo(long held) => _heldBytes = held;

    /// <summary>Checks that the run may use this many bytes more; otherwise it fails.</summary>
    public void Require(long more)
    {
        long needed = MemoryBytes + more;
        if (needed > MemoryLimit)
        {
            throw new ScriptFailure($"the script needs more than {Amount.Bytes(MemoryLimit)} of memory");
        }

        if (MemorySource is not null && needed > MemoryShare.BytesWithoutReservation + _reservedBytes)
        {
            ReserveMemory(needed - MemoryShare.BytesWithoutReservation - _reservedBytes);
        }
    }

    private void ReserveMemory(long more)
    {
        long reserved = (more + ReservationBytes - 1) / ReservationBytes * ReservationBytes;
        if (!MemorySource!(reserved))
        {
            throw new ScriptFailure("the script needs more memory than there is now");
        }

        _reservedBytes += reserved;
    }

    private long MemoryBytes => bytes.Length + ContainerBytes + _heldBytes;

    private static void FailForSteps() =>
        throw new ScriptFailure("the script takes more steps than a document of this size allows");
}
