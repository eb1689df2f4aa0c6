using Rookery.Server.Operations;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>
/// Every ten seconds the process checks whether it was idle. If so, it releases memory once. It does so again after it
/// has grown by 4 MiB and has stopped growing.
/// </summary>
public sealed class IdleMemoryTests
{
    private const long Mebibyte = 1 << 20;
    private readonly SimulatedTimeProvider _time = new();

    // What the process reports: requests and other work so far, and resident bytes.
    private long _workDone;
    private long _resident = 90 * Mebibyte;
    private int _releases;

    [Fact]
    public void Memory_is_released_once_after_work_and_again_when_the_idle_process_has_grown()
    {
        using var idle = Watch(bytesAfterRelease: 60 * Mebibyte);
        Assert.Equal(0, CountReleasesAfter(seconds: 10));
        Assert.Equal(1, CountReleasesAfter(seconds: 10));
        Assert.Equal(1, CountReleasesAfter(seconds: 1_000));

        _resident += 3 * Mebibyte;
        Assert.Equal(1, CountReleasesAfter(seconds: 1_000));
        _resident += 1 * Mebibyte;
        Assert.Equal(2, CountReleasesAfter(seconds: 20));
        Assert.Equal(2, CountReleasesAfter(seconds: 1_000));
    }

    /// <summary>Memory that a running compilation uses is freed only when it ends.</summary>
    [Fact]
    public void Nothing_is_released_while_the_process_grows()
    {
        using var idle = Watch(bytesAfterRelease: 60 * Mebibyte);
        Assert.Equal(1, CountReleasesAfter(seconds: 20));
        for (int round = 0; round < 9; round++)
        {
            _resident += Mebibyte;
            Assert.Equal(1, CountReleasesAfter(seconds: 10));
        }

        Assert.Equal(2, CountReleasesAfter(seconds: 10));
    }

    [Fact]
    public void A_release_that_frees_nothing_is_not_repeated()
    {
        using var idle = Watch(bytesAfterRelease: long.MaxValue);
        Assert.Equal(1, CountReleasesAfter(seconds: 20));
        _resident += 5 * Mebibyte;
        Assert.Equal(2, CountReleasesAfter(seconds: 1_000));
    }

    [Fact]
    public void Growth_is_counted_from_the_smallest_size_seen()
    {
        using var idle = Watch(bytesAfterRelease: 60 * Mebibyte);
        Assert.Equal(1, CountReleasesAfter(seconds: 20));
        _resident = 30 * Mebibyte;
        Assert.Equal(1, CountReleasesAfter(seconds: 10));
        _resident += 4 * Mebibyte;
        Assert.Equal(2, CountReleasesAfter(seconds: 20));
    }

    [Fact]
    public void Nothing_is_released_during_work()
    {
        using var idle = Watch(bytesAfterRelease: 60 * Mebibyte);
        for (int round = 0; round < 100; round++)
        {
            _workDone++;
            _resident += Mebibyte;
            Assert.Equal(0, CountReleasesAfter(seconds: 10));
        }

        Assert.Equal(1, CountReleasesAfter(seconds: 10));
    }

    // bytesAfterRelease: resident bytes of the process after memory was released.
    private IdleMemory Watch(long bytesAfterRelease) =>
        new(
            () => _workDone,
            () => _resident,
            () =>
            {
                _releases++;
                _resident = Math.Min(_resident, bytesAfterRelease);
            },
            _time
        );

    /// <summary>Advances the clock and returns how often memory was released since the start.</summary>
    private int CountReleasesAfter(int seconds)
    {
        _time.Advance(TimeSpan.FromSeconds(seconds));
        return _releases;
    }
}
