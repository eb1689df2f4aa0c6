using System.Runtime.InteropServices;

namespace Rookery.Hosting.Machine;

/// <summary>
/// What the kernel knows of the machine's clock. Whoever sets it from a source of time (timesyncd, chrony, ntpd) tells
/// the kernel; without that for some hours, it says so.
/// </summary>
public static partial class KernelClock
{
    // What adjtimex(2) returns when the clock is not synchronised.
    private const int TimeError = 5;

    // struct timex has 208 bytes on 64-bit Linux, fewer on 32-bit.
    private const int TimexBytes = 256;

    /// <summary>
    /// Whether the clock follows a source of time. A system call of half a microsecond that changes nothing and needs
    /// no privilege.
    /// </summary>
    public static bool IsSynchronised()
    {
        if (!OperatingSystem.IsLinux())
        {
            return true; // other systems set their clocks themselves, and are for development
        }

        Span<byte> timex = stackalloc byte[TimexBytes];
        timex.Clear(); // no modes: only read
        return ReadKernelClock(ref MemoryMarshal.GetReference(timex)) is >= 0 and not TimeError;
    }

    [LibraryImport("libc", EntryPoint = "adjtimex")]
    private static partial int ReadKernelClock(ref byte timex);
}
