using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Conditions;

/// <summary>The memory of a query, which its parts hold together.</summary>
public sealed class QueryMemoryTests
{
    private const long LimitBytes = 1 << 20;
    private const long AssuredBytes = 128 << 10;

    // A query is refused because of other queries only if all its parts together hold less than the assured bytes.
    [Theory]
    [InlineData(64 << 10, true)]
    [InlineData(256 << 10, false)]
    public void The_memory_of_all_parts_of_a_query_decides_why_it_is_refused(long heldByFirst, bool isFaultOfOthers)
    {
        var share = CreateShare();
        var query = new QueryMemory(share);
        using var first = new ScanMemory(query);
        using var second = new ScanMemory(query);
        first.Reserve(heldByFirst);
        share.Reserve(LimitBytes - heldByFirst);
        var refused = Assert.Throws<QueryException>(() => second.Reserve(1 << 10));
        Assert.Equal(isFaultOfOthers, refused.Fault != QueryFault.TooCostly);
        share.Release(LimitBytes - heldByFirst);
    }

    [Fact]
    public void Parts_that_end_release_what_they_hold_and_no_more()
    {
        var share = CreateShare();
        var query = new QueryMemory(share);
        using (var first = new ScanMemory(query))
        {
            first.Reserve(5);
            using var second = new ScanMemory(query);
            second.Reserve(7);
            second.Release(3);
            Assert.Equal((9, 9), (query.HeldBytes, share.UsedBytes));
        }

        Assert.Equal((0, 0), (query.HeldBytes, share.UsedBytes));
    }

    private static MemoryShare CreateShare() =>
        new MemoryBudget(4 * LimitBytes).AddShare("queries", LimitBytes, AssuredBytes);
}
