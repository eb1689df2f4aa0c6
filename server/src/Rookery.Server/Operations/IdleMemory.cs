namespace Rookery.Server;

/// <summary>
/// Gives memory back when work has ended, between 10 and 20 seconds after the last of it, and again whenever the idle process has grown by 4 MiB since and grows no more: what is done every second or minute
/// is compiled anew once it has run thirty times, up to a quarter of an hour after a start, and the C library keeps what the compiler frees when it has done.
/// </summary>
public sealed class IdleMemory : IDisposable
{
    private const long Growth = 4 << 20;
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(10);
    private readonly Func<long> work;
    private readonly Func<long> resident;
    private readonly Action giveBack;
    private readonly ITimer timer;
    private long workSeen = -1;
    private long leastBytes;
    private long lastBytes;

    /// <summary>Looks from now on.</summary>
    /// <param name="work">A count that changes with work.</param>
    /// <param name="resident">Resident bytes of the process.</param>
    /// <param name="giveBack">Gives memory back.</param>
    /// <param name="time">The clock.</param>
    public IdleMemory(Func<long> work, Func<long> resident, Action giveBack, TimeProvider time)
    {
        this.work = work;
        this.resident = resident;
        this.giveBack = giveBack;
        timer = time.CreateTimer(static idle => ((IdleMemory)idle!).Look(), this, Period, Period);
    }

    /// <summary>Looks no more.</summary>
    public void Dispose() => timer.Dispose();

    private void Look()
    {
        long seen = work();
        long bytes = resident();
        bool isGrowing = bytes - lastBytes >= Growth / 8;
        lastBytes = bytes;
        if (seen != workSeen)
        {
            workSeen = seen;
            leastBytes = 0;
            return;
        }

        // It falls by itself, too: the kernel takes pages of the executable.
        leastBytes = Math.Min(leastBytes, bytes);
        if (bytes - leastBytes >= Growth && !isGrowing)
        {
            giveBack();

            // What could not be given back is no reason to try again.
            leastBytes = lastBytes = resident();
        }
    }
}
