using Rookery.Simulation;

namespace Rookery.Platform.Tests;

/// <summary>The search for power cuts that break a promise, tried on a small log with known mistakes.</summary>
public sealed class CrashSearchTests
{
    [Fact]
    public void The_search_finds_nothing_in_a_log_without_mistakes() =>
        new CrashSearch { Points = 3000, Runs = 10 }.Verify(
            seed => ToyLog.Run(ToyLogMistake.None, seed),
            (image, log, operation) => log.Check(image, operation)
        );

    [Theory]
    [InlineData(ToyLogMistake.AcknowledgesBeforeSync)]
    [InlineData(ToyLogMistake.ForgetsToSyncItsDirectory)]
    [InlineData(ToyLogMistake.TrustsTheLengthOfTheFile)]
    [InlineData(ToyLogMistake.RewritesItsHeaderInPlaceFirst)]
    [InlineData(ToyLogMistake.IgnoresAFailedSync)]
    public void The_search_finds_the_mistake_of_a_log(ToyLogMistake mistake)
    {
        var search = new CrashSearch { Points = 3000, Runs = 10 };
        var failure = search.Find(
            seed => ToyLog.Run(mistake, seed),
            (image, log, operation) => log.Check(image, operation)
        );
        Assert.NotNull(failure);

        // The reported point fails again.
        var point = CrashPoint.Parse(failure.Value.Point.ToString());
        var (disk, again) = ToyLog.Run(mistake, point.Run);
        Assert.ThrowsAny<Exception>(() => again.Check(disk.CrashAt(point.Operation, point.Image), point.Operation));
    }

    [Fact]
    public void A_failure_says_how_to_replay_it()
    {
        var search = new CrashSearch { Points = 300, Runs = 3 };
        var failure = Assert.Throws<CrashFoundException>(() =>
            search.Verify(
                seed => ToyLog.Run(ToyLogMistake.AcknowledgesBeforeSync, seed),
                (image, log, operation) => log.Check(image, operation)
            )
        );
        Assert.Matches(
            @"ROOKERY_CRASH=\d+:\d+:\d+ dotnet test server/tests/Rookery.Platform.Tests --filter FullyQualifiedName~CrashSearchTests.A_failure_says_how_to_replay_it",
            failure.Message
        );
    }
}
