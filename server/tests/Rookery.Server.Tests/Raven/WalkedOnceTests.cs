using System.Text;
using Rookery.Queries.Answering;

namespace Rookery.Server.Tests.Raven;

public sealed class WalkedOnceTests
{
    [Fact]
    public void A_document_written_during_the_scan_is_returned_once()
    {
        var once = new WalkedOnce(lastEtag: 10);
        Assert.False(once.IsOver(10, Never));
        Assert.True(once.IsNew(Id("users/1")));
        Assert.False(once.IsOver(11, static () => 12));
        Assert.False(once.IsNew(Id("USERS/1")));
        Assert.True(once.IsNew(Id("users/2")));
        Assert.False(once.IsOver(12, Never));
        Assert.True(once.IsOver(13, Never), "who goes on writing does not lengthen the walk");
    }

    [Fact]
    public void A_scan_with_too_many_matches_skips_documents_written_meanwhile()
    {
        var once = new WalkedOnce(lastEtag: 10);
        for (int i = 0; i < 100_001; i++)
        {
            Assert.True(once.IsNew(Id($"users/{i}")));
        }

        Assert.True(once.IsOver(11, Never));
    }

    private static byte[] Id(string text) => Encoding.UTF8.GetBytes(text);

    private static long Never() => throw new InvalidOperationException("nobody may ask");
}
