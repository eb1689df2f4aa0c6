using Rookery.Board;
using Rookery.Server.Alerts;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>A card whose driver hangs when its state is read.</summary>
public sealed class HangingCardTests
{
    // Ends a test that would otherwise hang; a passing test never waits for it.
    private static readonly TimeSpan Guard = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task Metrics_and_alerts_do_not_wait_for_it()
    {
        using var answers = new ManualResetEventSlim();
        var board = new SimulatedBoard { Storage = [new StorageReading("mmcblk0") { LifeUsedA = 0.9 }] };
        using var watch = new BoardWatch(board, TimeProvider.System);
        var server = new RunningServer { ChangeOptions = options => options with { Board = watch } };
        await server.InitializeAsync();
        try
        {
            var facts = new FactsReader(server.Context);
            await AwaitAsync(() => Task.FromResult(facts.Read()!.Devices.SequenceEqual(board.Storage)));
            board.BeforeReadStorage = answers.Wait;

            // A reading that began before may still be shown.
            await AwaitAsync(async () =>
            {
                var metrics = await server.SendAsync("GET", "/metrics").WaitAsync(Guard);
                Assert.Equal(200, metrics.Status);
                Assert.Contains("rookery_board_info", metrics.Body, StringComparison.Ordinal);
                return !metrics.Body.Contains("mmcblk0", StringComparison.Ordinal);
            });

            // An alert about the card stays, until the driver tells that the card is gone.
            Assert.Equal(board.Storage, (await Task.Run(facts.Read).WaitAsync(Guard))!.Devices);
            board.Storage = [];
            answers.Set();
            await AwaitAsync(() => Task.FromResult(facts.Read()!.Devices.Count == 0));
        }
        finally
        {
            answers.Set();
            await server.DisposeAsync();
        }
    }

    private static async Task AwaitAsync(Func<Task<bool>> holds)
    {
        using var guard = new CancellationTokenSource(Guard);
        while (!await holds())
        {
            await Task.Delay(20, guard.Token);
        }
    }
}
