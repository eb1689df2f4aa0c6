using Rookery.Cluster.Transfer;
using Rookery.Documents.Transfer;

namespace Rookery.Cluster.Tests.Transfer;

/// <summary>
/// The fetch of another member's state, in spite of broken connections, damaged files and expired offers.
/// </summary>
public sealed class StateFetchTests : IDisposable
{
    // The part of a fault of StateServer that changes no byte.
    private const long NoFlip = -1;

    private const int Documents = 600;

    private readonly StateNode _sender = new();
    private readonly StateNode _receiver = new();

    public StateFetchTests() => _sender.Fill(Documents);

    [Fact]
    public async Task A_fetch_continues_at_the_byte_where_the_connection_broke()
    {
        await using var server = await StateServer.StartAsync(
            _sender.Routes,
            static request => (20_000 + (1_000 * request), NoFlip)
        );
        var steps = new List<StateFetchProgress>();
        var fetched = await CreateFetch(server, steps.Add).RunAsync(CancellationToken.None);

        Assert.Equal(fetched.Offer.Bytes, _receiver.Core.Transfers.ReceivedBytes);
        Assert.InRange(_receiver.Core.Transfers.Resumed, 10, 100);
        Assert.Equal(new StateFetchProgress(fetched.Offer.Bytes, fetched.Offer.Bytes), steps[^1]);
        Assert.Equal(steps.OrderBy(static step => step.Bytes), steps);
        _receiver.Core.Installation.Install(fetched, tailIsKept: false);
        Assert.Equal(Documents, _receiver.Count());
        Assert.Equal(
            (_sender.Core.Journal.LastIndex, Documents),
            (_receiver.Core.Journal.LastIndex, _receiver.Core.Journal.OperationsBeforeNext)
        );
    }

    /// <summary>
    /// A member that has most of the state gets the rest over breaking connections, and both ends count the bytes.
    /// </summary>
    [Fact]
    public async Task Changes_are_fetched_when_they_are_smaller_and_counted_separately()
    {
        _receiver.Fill(500);
        SnapshotOffer? chosen = null;
        await using var server = await StateServer.StartAsync(
            _sender.Routes,
            static request => (20_000 + (1_000 * request), NoFlip)
        );
        var fetched = await new StateFetch(server.Client, _receiver.Core.Inbox, TimeProvider.System)
        {
            DelayPerBreak = TimeSpan.Zero,
            DelayBetweenRequests = TimeSpan.FromMilliseconds(1),
            Since = () => _receiver.Core.Installation.ChangesNeededSince,
            Chosen = offer => chosen = offer,
        }.RunAsync(CancellationToken.None);

        Assert.Equal((500, chosen), (fetched.Offer.Since, fetched.Offer));
        Assert.InRange(fetched.Offer.Bytes, 90_000, fetched.Offer.WholeBytes / 4);
        _receiver.Core.Installation.Prepare(fetched);
        _receiver.Core.Installation.Install(fetched, tailIsKept: false);
        Assert.Equal(Documents, _receiver.Count());
        Assert.InRange(_receiver.Core.Transfers.Resumed, 1, 100);
        Assert.Equal(
            (fetched.Offer.Bytes, 0, 1, 0),
            (
                _receiver.Core.Transfers.ReceivedBytesOf(StateTransferKind.Changes),
                _receiver.Core.Transfers.ReceivedBytesOf(StateTransferKind.Files),
                _receiver.Core.Transfers.InstalledOf(StateTransferKind.Changes),
                _receiver.Core.Transfers.InstalledOf(StateTransferKind.Files)
            )
        );
        Assert.InRange(_sender.Core.Transfers.SentBytesOf(StateTransferKind.Changes), 1, fetched.Offer.Bytes);
        Assert.Equal(0, _sender.Core.Transfers.SentBytesOf(StateTransferKind.Files));
    }

    [Fact]
    public async Task A_file_that_arrives_changed_is_fetched_again_and_no_other()
    {
        await using var server = await StateServer.StartAsync(
            _sender.Routes,
            static request => (null, request == 2 ? 777 : NoFlip)
        );
        var fetched = await CreateFetch(server).RunAsync(CancellationToken.None);
        Assert.Equal(fetched.Offer.Bytes + fetched.Offer.Files[1].Bytes, _receiver.Core.Transfers.ReceivedBytes);
        _receiver.Core.Installation.Install(fetched, tailIsKept: false);
        Assert.Equal(Documents, _receiver.Count());
    }

    [Fact]
    public async Task A_fetch_whose_offer_expires_midway_continues_with_a_new_offer()
    {
        await using var server = await StateServer.StartAsync(
            _sender.Routes,
            request =>
            {
                if (request == 3)
                {
                    _sender.Time.Advance(SnapshotOffers.IdleTimeout);
                    _sender.Core.Offers.WithdrawDue();
                }

                return (null, NoFlip);
            }
        );
        await CreateFetch(server).RunAsync(CancellationToken.None);
        Assert.Equal((2L, 1L), (_sender.Core.Transfers.Offers, _sender.Core.Transfers.Dropped));
    }

    [Fact]
    public async Task A_fetch_from_a_member_that_always_breaks_off_ends_and_keeps_the_received_bytes()
    {
        await using (
            var brokenSender = await StateServer.StartAsync(
                _sender.Routes,
                static request => (request == 1 ? 5_000 : 0, NoFlip)
            )
        )
        {
            Assert.Contains(
                "broke off 9 times in a row",
                (
                    await Assert.ThrowsAsync<StateTransferException>(() =>
                        CreateFetch(brokenSender).RunAsync(CancellationToken.None)
                    )
                ).Message,
                StringComparison.Ordinal
            );
        }

        await using var server = await StateServer.StartAsync(_sender.Routes);
        var fetched = await CreateFetch(server).RunAsync(CancellationToken.None);
        Assert.InRange(_receiver.Core.Transfers.ReceivedBytes, fetched.Offer.Bytes, fetched.Offer.Bytes + 5_000);
    }

    [Fact]
    public async Task The_reason_of_a_member_that_offers_no_state_is_reported()
    {
        var routes = new StateRoutes(
            _sender.Core.Offers,
            static (_, _) => throw new StateTransferException("There is no snapshot."),
            TimeProvider.System
        );
        await using var server = await StateServer.StartAsync(routes);
        Assert.EndsWith(
            "does not offer its state: There is no snapshot.",
            (
                await Assert.ThrowsAsync<StateTransferException>(() =>
                    CreateFetch(server).RunAsync(CancellationToken.None)
                )
            ).Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("/state/offer", null, "POST", 405)]
    [InlineData("/state/offer?since=abc", null, "GET", 400)]
    [InlineData("/state/offer?through=-1", null, "GET", 400)]
    [InlineData("/state", null, "GET", 404)]
    [InlineData("/state/no-such-offer/manifest-0", null, "GET", 410)]
    [InlineData("/state/OFFER/no-such-file", null, "GET", 410)]
    [InlineData("/state/OFFER/..%2Fformat", null, "GET", 410)]
    [InlineData("/state/OFFER/manifest-0", "bytes=100-", "GET", 206)]
    [InlineData("/state/OFFER/manifest-0", null, "GET", 200)]
    [InlineData("/state/OFFER/manifest-0", "bytes=99999999-", "GET", 416)]
    [InlineData("/state/OFFER/manifest-0", "bytes=-5", "GET", 416)]
    [InlineData("/state/OFFER/manifest-0", "lines=1-", "GET", 416)]
    public async Task State_requests_get_the_documented_status(string path, string? range, string method, int status)
    {
        var offer = _sender.Core.Offers.Make();
        await using var server = await StateServer.StartAsync(_sender.Routes);
        using var answer = await server.GetAsync(
            path.Replace("OFFER", offer.Id, StringComparison.Ordinal),
            range,
            new HttpMethod(method)
        );
        Assert.Equal(status, (int)answer.StatusCode);
        long whole = offer.Files.First(static file => file.Name is "manifest-0").Bytes;
        byte[] body = await answer.Content.ReadAsByteArrayAsync();
        Assert.Equal(
            status switch
            {
                200 => whole,
                206 => whole - 100,
                _ => body.Length,
            },
            body.Length
        );
    }

    public void Dispose()
    {
        _sender.Dispose();
        _receiver.Dispose();
    }

    private StateFetch CreateFetch(StateServer server, Action<StateFetchProgress>? progress = null) =>
        new(server.Client, _receiver.Core.Inbox, TimeProvider.System)
        {
            DelayPerBreak = TimeSpan.Zero,
            Progress = progress,
        };
}
