namespace Rookery.Server.Operations;

/// <summary>
/// Releases memory 10 to 20 seconds after the last work, and again whenever the idle process has grown by 4 MiB and
/// stopped growing. With a just-in-time compiler, an idle process grows because the runtime recompiles methods that ran
/// thirty times, up to 15 minutes after the start, and the C library keeps the memory that the compiler frees.
/// </summary>
public sealed class IdleMemory : IDisposable
{
    private const long ReleasableGrowth = 4 << 20;
    private const long StillGrowing = ReleasableGrowth / 8;
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(10);
    private readonly Func<long> _countWork;
    private readonly Func<long> _measureResident;
    private readonly Action _release;
    private readonly ITimer _timer;
    private long _lastWork = -1;

    // The resident bytes: the least since the last work or release (0 right after work), and those of the last check.
    private long _leastBytes;
    private long _lastBytes;

    /// <summary>Starts a timer that checks for idleness.</summary>
    /// <param name="work">Returns a count that changes with work.</param>
    /// <param name="resident">Returns the resident bytes of the process.</param>
    /// <param name="release">Releases memory.</param>
    /// <param name="time">The clock.</param>
    public IdleMemory(Func<long> work, Func<long> resident, Action release, TimeProvider time)
    {
        _countWork = work;
        _measureResident = resident;
        _release = release;
        _timer = time.CreateTimer(static idle => ((IdleMemory)idle!).ReleaseIfIdle(), this, Period, Period);
    }

    /// <summary>Stops the timer.</summary>
    public void Dispose() => _timer.Dispose();

    private void ReleaseIfIdle()
    {
        long work = _countWork();
        long bytes = _measureResident();
        bool isGrowing = bytes - _lastBytes >= StillGrowing;
        _lastBytes = bytes;
        if (work != _lastWork)
        {
            _lastWork = work;
            _leastBytes = 0;
            return;
        }

        // The resident size also falls by itself, when the kernel drops pages of the executable.
        _leastBytes = Math.Min(_leastBytes, bytes);
        if (bytes - _leastBytes >= ReleasableGrowth && !isGrowing)
        {
            _release();

            // Count from the size after the release, so that memory that could not be released causes no further
            // attempt.
            _leastBytes = _lastBytes = _measureResident();
        }
    }
}
