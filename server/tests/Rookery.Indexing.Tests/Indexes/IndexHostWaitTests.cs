using System.Collections.Concurrent;
using Rookery.Indexing.Indexes;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Whoever waits for an index that is paused and resumed.</summary>
public sealed class IndexHostWaitTests
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    /// <summary>The clock stands, and no definition changes: nothing else ends the wait.</summary>
    [Fact]
    public async Task Who_is_sent_away_and_finds_the_index_at_work_again_waits_on_for_it()
    {
        using var node = IndexedNode.New();
        node.Define(ByName.Name, ByName);
        node.SettleAll();
        node.Put("a", "\"name\":1");
        using var held = new HeldContinuations();
        var waiting = held.Within(() =>
            node.Host.WaitAsync(
                node.Database(),
                ByName.Name,
                node.Database().LastEtag,
                TimeSpan.FromHours(1),
                CancellationToken.None
            )
        );
        node.Host.SetPaused(node.Database(), ByName.Name, true);
        node.Host.SetPaused(node.Database(), ByName.Name, false);
        node.SettleAll();
        held.RunUntil(waiting);
        Assert.True(waiting.IsCompleted && await waiting);
    }

    /// <summary>Runs what comes behind an await when the test says so.</summary>
    private sealed class HeldContinuations : SynchronizationContext, IDisposable
    {
        // A test that would otherwise hang ends; none that passes waits for it.
        private static readonly TimeSpan Guard = TimeSpan.FromSeconds(60);

        private readonly BlockingCollection<(SendOrPostCallback Callback, object? State)> _held = [];

        public override void Post(SendOrPostCallback d, object? state) => _held.Add((d, state));

        public TResult Within<TResult>(Func<TResult> act)
        {
            var before = Current;
            SetSynchronizationContext(this);
            try
            {
                return act();
            }
            finally
            {
                SetSynchronizationContext(before);
            }
        }

        public void RunUntil(Task ended)
        {
            while (!ended.IsCompleted && _held.TryTake(out var held, Guard))
            {
                Within<object?>(() =>
                {
                    held.Callback(held.State);
                    return null;
                });
            }
        }

        public void Dispose() => _held.Dispose();
    }
}
