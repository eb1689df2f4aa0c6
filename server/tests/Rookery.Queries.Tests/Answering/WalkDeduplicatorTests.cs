using System.Text;
using Rookery.Queries.Answering;

namespace Rookery.Queries.Tests.Answering;

/// <summary>
/// A scan walks documents by etag. A document that is written meanwhile gets a higher etag, so the walk meets it again.
/// </summary>
public sealed class WalkDeduplicatorTests
{
    [Fact]
    public void A_document_written_during_the_scan_is_returned_once()
    {
        var walk = new WalkDeduplicator(lastEtag: 10);
        Assert.False(walk.EndsAt(etag: 10, NotCalled));
        Assert.True(walk.TryRegister(IdOf("users/1")));
        Assert.False(walk.EndsAt(etag: 11, static () => 12));
        Assert.False(walk.TryRegister(IdOf("USERS/1")));
        Assert.True(walk.TryRegister(IdOf("users/2")));
        Assert.False(walk.EndsAt(etag: 12, NotCalled));
        Assert.True(walk.EndsAt(etag: 13, NotCalled), "continued writes do not lengthen the walk");
    }

    [Fact]
    public void A_scan_with_too_many_matches_skips_documents_written_meanwhile()
    {
        var walk = new WalkDeduplicator(lastEtag: 10);
        // One match more than the ids that a walk remembers.
        for (int i = 0; i < 100_001; i++)
        {
            Assert.True(walk.TryRegister(IdOf($"users/{i}")));
        }

        Assert.True(walk.EndsAt(etag: 11, NotCalled));
    }

    private static byte[] IdOf(string text) => Encoding.UTF8.GetBytes(text);

    private static long NotCalled() => throw new InvalidOperationException("not called");
}
