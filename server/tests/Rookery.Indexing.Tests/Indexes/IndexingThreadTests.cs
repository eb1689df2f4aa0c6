using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>The thread that works on all indexes of a node.</summary>
public sealed class IndexingThreadTests
{
    private static readonly AutoIndexDefinition ByName = new(
        "Users",
        [new AutoIndexField(["name"], AutoIndexFieldUses.None)]
    );

    // Only a thread that never works takes this long.
    private static readonly TimeSpan Guard = TimeSpan.FromMinutes(1);

    [Theory]
    [InlineData(1)]
    [InlineData(0)]
    public async Task The_thread_indexes_writes_and_serves_waiting_queries_even_without_a_share_of_a_core(
        double shareOfCore
    )
    {
        using var node = IndexedNode.New(shareOfCore: shareOfCore);
        using (new IndexingThread(node.Host, node.Store.Databases, node.Time))
        {
            node.Define("a", ByName);
            for (int i = 0; i < 50; i++)
            {
                node.Put($"users/{i}", $"\"name\":{i}");
                if (i % 10 == 0)
                {
                    while (!node.Host.TryGetSlot(node.Database(), "a", out _))
                    {
                        Assert.True(shareOfCore > 0 || !node.Host.IsAwaited);
                        await Task.Yield();
                    }

                    Assert.True(
                        await node
                            .Host.WaitAsync(
                                node.Database(),
                                "a",
                                node.Database().LastEtag,
                                Guard,
                                CancellationToken.None
                            )
                            .WaitAsync(Guard)
                    );
                }
            }

            Assert.True(
                await node
                    .Host.WaitAsync(node.Database(), "a", node.Database().LastEtag, Guard, CancellationToken.None)
                    .WaitAsync(Guard)
            );
            node.Check("a", ByName);
        }

        Assert.Null(node.Store.Databases.Applied);
    }
}
