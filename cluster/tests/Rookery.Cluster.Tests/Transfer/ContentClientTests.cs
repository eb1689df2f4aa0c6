using System.Net;
using Rookery.Cluster.Contents;
using Rookery.Documents.Attachments;
using Rookery.Raft;

namespace Rookery.Cluster.Tests.Transfer;

/// <summary>Requests about contents over HTTP.</summary>
public sealed class ContentClientTests
{
    private static readonly NodeId Member = new(7);

    private int _made;

    [Fact]
    public async Task An_error_status_keeps_the_connection()
    {
        await AskTwiceAsync(() => new HttpResponseMessage(HttpStatusCode.ServiceUnavailable));
        Assert.Equal(1, _made);
    }

    [Fact]
    public async Task A_broken_connection_is_replaced()
    {
        await AskTwiceAsync(static () => throw new HttpRequestException("It broke."));
        Assert.Equal(2, _made);
    }

    [Fact]
    public void A_list_of_contents_is_decoded_as_it_was_encoded()
    {
        var listing = new ContentListing([new ContentName(1, default, Size: 5)], 9, [Member, new NodeId(8)]);
        var decoded = ContentEncoding.DecodeListing(ContentEncoding.Encode(listing));
        Assert.NotNull(decoded);
        Assert.Equal(listing.Names, decoded.Names);
        Assert.Equal(listing.Members, decoded.Members);
        Assert.Equal(listing.AppliedIndex, decoded.AppliedIndex);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(long.MaxValue)]
    public void A_content_of_an_impossible_size_is_refused(long size)
    {
        var name = new ContentName(1, default, size);
        Assert.Null(ContentEncoding.Decode(ContentEncoding.Encode([name])));
        Assert.False(ContentEncoding.TryParse(ContentEncoding.ToText(name), out _));
    }

    private async Task AskTwiceAsync(Func<HttpResponseMessage> answer)
    {
        using var client = new ContentClient(
            _ =>
            {
                _made++;
                return new HttpClient(new Answering(answer)) { BaseAddress = new Uri("https://member") };
            },
            static _ => "B",
            TimeProvider.System
        );
        for (int i = 0; i < 2; i++)
        {
            await Assert.ThrowsAsync<IOException>(() => client.ListAsync(Member, after: null, CancellationToken.None));
        }
    }

    private sealed class Answering(Func<HttpResponseMessage> answer) : HttpMessageHandler
    {
        protected override Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request,
            CancellationToken cancellationToken
        ) => Task.FromResult(answer());
    }
}
