using System.Runtime.InteropServices;

namespace Rookery.Hosting.Machine;

/// <summary>
/// The kernel's state of the machine's clock. A time service (timesyncd, chrony, ntpd) tells the kernel when it sets
/// the clock. Some hours after the last time, the kernel reports the clock as not synchronised.
/// </summary>
public static partial class KernelClock
{
    // What adjtimex(2) returns when the clock is not synchronised.
    private const int TimeError = 5;

    // struct timex has 208 bytes on 64-bit Linux, fewer on 32-bit.
    private const int TimexBytes = 256;

    /// <summary>
    /// Returns whether a time service keeps the clock synchronised. Costs one unprivileged system call of half a
    /// microsecond.
    /// </summary>
    public static bool IsSynchronised()
    {
        if (!OperatingSystem.IsLinux())
        {
            return true; // other systems are for development only
        }

        Span<byte> timex = stackalloc byte[TimexBytes];
        timex.Clear(); // no mode bits: only reads
        return ReadKernelClock(ref MemoryMarshal.GetReference(timex)) is >= 0 and not TimeError;
    }

    [LibraryImport("libc", EntryPoint = "adjtimex")]
    private static partial int ReadKernelClock(ref byte timex);
}
