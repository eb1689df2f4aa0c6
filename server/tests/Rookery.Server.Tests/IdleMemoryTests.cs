using Rookery.Simulation;

namespace Rookery.Server.Tests;

public sealed class IdleMemoryTests
{
    private const long Mebibyte = 1 << 20;
    private readonly SimulatedTimeProvider time = new();
    private long work;
    private long resident = 90 * Mebibyte;
    private int givenBack;

    [Fact]
    public void Memory_is_given_back_once_after_work_and_again_when_the_idle_process_has_grown()
    {
        using var idle = New(restBytes: 60 * Mebibyte);
        Assert.Equal(0, After(seconds: 10));
        Assert.Equal(1, After(seconds: 10));
        Assert.Equal(1, After(seconds: 1_000));

        resident += 3 * Mebibyte;
        Assert.Equal(1, After(seconds: 1_000));
        resident += 1 * Mebibyte;
        Assert.Equal(2, After(seconds: 20));
        Assert.Equal(2, After(seconds: 1_000));
    }

    /// <summary>What is compiled just then is freed only afterwards.</summary>
    [Fact]
    public void Nothing_is_given_back_while_the_process_grows()
    {
        using var idle = New(restBytes: 60 * Mebibyte);
        Assert.Equal(1, After(seconds: 20));
        for (int round = 0; round < 9; round++)
        {
            resident += Mebibyte;
            Assert.Equal(1, After(seconds: 10));
        }

        Assert.Equal(2, After(seconds: 10));
    }

    [Fact]
    public void What_cannot_be_given_back_is_no_reason_to_try_again()
    {
        using var idle = New(restBytes: long.MaxValue);
        Assert.Equal(1, After(seconds: 20));
        resident += 5 * Mebibyte;
        Assert.Equal(2, After(seconds: 1_000));
    }

    [Fact]
    public void Growth_counts_from_the_least_that_was_seen()
    {
        using var idle = New(restBytes: 60 * Mebibyte);
        Assert.Equal(1, After(seconds: 20));
        resident = 30 * Mebibyte;
        Assert.Equal(1, After(seconds: 10));
        resident += 4 * Mebibyte;
        Assert.Equal(2, After(seconds: 20));
    }

    [Fact]
    public void Nothing_is_given_back_during_work()
    {
        using var idle = New(restBytes: 60 * Mebibyte);
        for (int round = 0; round < 100; round++)
        {
            work++;
            resident += Mebibyte;
            Assert.Equal(0, After(seconds: 10));
        }

        Assert.Equal(1, After(seconds: 10));
    }

    private IdleMemory New(long restBytes) => new(
        () => work,
        () => resident,
        () =>
        {
            givenBack++;
            resident = Math.Min(resident, restBytes);
        },
        time);

    private int After(int seconds)
    {
        time.Advance(TimeSpan.FromSeconds(seconds));
        return givenBack;
    }
}
