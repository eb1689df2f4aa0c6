namespace Rookery.Server.Operations;

/// <summary>
/// Gives memory back when work has ended, between 10 and 20 seconds after the last of it, and again whenever the idle
/// process has grown by 4 MiB since and grows no more: what is done every second or minute is compiled anew once it has
/// run thirty times, up to a quarter of an hour after a start, and the C library keeps what the compiler frees when it
/// has done.
/// </summary>
public sealed class IdleMemory : IDisposable
{
    private const long Growth = 4 << 20;
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(10);
    private readonly Func<long> _work;
    private readonly Func<long> _resident;
    private readonly Action _giveBack;
    private readonly ITimer _timer;
    private long _workSeen = -1;
    private long _leastBytes;
    private long _lastBytes;

    /// <summary>Looks from now on.</summary>
    /// <param name="work">A count that changes with work.</param>
    /// <param name="resident">Resident bytes of the process.</param>
    /// <param name="giveBack">Gives memory back.</param>
    /// <param name="time">The clock.</param>
    public IdleMemory(Func<long> work, Func<long> resident, Action giveBack, TimeProvider time)
    {
        _work = work;
        _resident = resident;
        _giveBack = giveBack;
        _timer = time.CreateTimer(static idle => ((IdleMemory)idle!).Look(), this, Period, Period);
    }

    /// <summary>Looks no more.</summary>
    public void Dispose() => _timer.Dispose();

    private void Look()
    {
        long seen = _work();
        long bytes = _resident();
        bool isGrowing = bytes - _lastBytes >= Growth / 8;
        _lastBytes = bytes;
        if (seen != _workSeen)
        {
            _workSeen = seen;
            _leastBytes = 0;
            return;
        }

        // It falls by itself, too: the kernel takes pages of the executable.
        _leastBytes = Math.Min(_leastBytes, bytes);
        if (bytes - _leastBytes >= Growth && !isGrowing)
        {
            _giveBack();

            // What could not be given back is no reason to try again.
            _leastBytes = _lastBytes = _resident();
        }
    }
}
