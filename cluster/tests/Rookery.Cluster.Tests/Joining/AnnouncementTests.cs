using Rookery.Cluster.Identity;
using Rookery.Cluster.Joining;
using Rookery.Cluster.Tests.Identity;
using Rookery.Documents.Nodes;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>The record that each member writes about itself at its start.</summary>
public sealed class AnnouncementTests : IDisposable
{
    private static readonly MemberFacts Facts = new(
        StoreId: new Guid("6f9619ff-8b86-d011-b42d-00c04fc964ff"),
        StartNumber: 3,
        StartId: 77,
        Addresses: ["192.168.1.5:9080"],
        ClientUrls: ["http://192.168.1.5:8080"],
        PublicUrl: null
    );

    private readonly ClusterAuthority _authority = TestAuthority.Create();
    private readonly NodeIdentity _identity;
    private readonly MemoryRecordStore _recordStore = new();
    private readonly Announcement _announcement;

    public AnnouncementTests()
    {
        _identity = TestAuthority.CreateIdentity(_authority);
        _announcement = new Announcement(() => _identity, _recordStore, TimeProvider.System);
    }

    public void Dispose()
    {
        _identity.Dispose();
        _authority.Dispose();
    }

    [Fact]
    public async Task The_first_member_creates_its_own_record_and_writes_nothing_twice()
    {
        Assert.Null(await _announcement.AnnounceAsync(Facts, CancellationToken.None));
        var (node, record, _) = Assert.Single(MemberRecord.All(_recordStore));
        Assert.Equal(
            (_identity.NodeId, "A", "pi-1", Facts.StoreId, 3L),
            (node, record.Tag, record.Name, record.StoreId!.Value, record.StartNumber)
        );
        Assert.Equal(_identity.Key.ExportSubjectPublicKeyInfo(), record.PublicKey);
        Assert.Null(await _announcement.AnnounceAsync(Facts, CancellationToken.None));
        Assert.Equal(1, _recordStore.Changes);
    }

    [Fact]
    public void Configured_addresses_are_kept_when_there_are_too_many_addresses()
    {
        string[] listened = [.. Enumerable.Range(1, 20).Select(static number => $"192.168.1.{number}:9443")];
        string[] configured = ["pi-1.lan:9443", "203.0.113.5:9443"];
        Assert.Equal([.. listened[..14], .. configured], MemberFacts.AddressesOf(listened, configured));
        Assert.Equal(
            [listened[0], .. configured, "127.0.0.1:9443"],
            MemberFacts.AddressesOf(["127.0.0.1:9443", listened[0]], configured)
        );
    }

    [Fact]
    public async Task A_member_announces_its_newest_format_level_and_the_founder_sets_that_of_the_cluster()
    {
        var newer = Facts with { NewestFormatLevel = 3, FormatLevel = new FormatLevel(Level: 2, "0.9.2") };
        Assert.Null(await _announcement.AnnounceAsync(newer, CancellationToken.None));
        Assert.Equal(3, Assert.Single(MemberRecord.All(_recordStore)).Record.NewestFormatLevel);
        Assert.Equal(newer.FormatLevel, FormatLevel.Of(_recordStore.Find(FormatLevel.RecordKey)));

        Assert.Null(
            await _announcement.AnnounceAsync(
                Facts with
                {
                    FormatLevel = new FormatLevel(Level: 3, "0.9.3"),
                },
                CancellationToken.None
            )
        );
        Assert.Equal(FormatLevel.Newest, Assert.Single(MemberRecord.All(_recordStore)).Record.NewestFormatLevel);
        Assert.Equal(newer.FormatLevel, FormatLevel.Of(_recordStore.Find(FormatLevel.RecordKey)));
    }

    [Fact]
    public async Task A_new_address_is_announced_even_after_a_concurrent_change_of_the_record()
    {
        await _announcement.AnnounceAsync(Facts, CancellationToken.None);
        _recordStore.BeforeChange = () =>
            _recordStore
                .ChangeAsync(
                    [
                        new RecordChange(
                            MemberRecord.KeyOf(_identity.NodeId),
                            _recordStore.Find(MemberRecord.KeyOf(_identity.NodeId))!.Value.ToArray(),
                            ExpectedVersion: null
                        ),
                    ],
                    CancellationToken.None
                )
                .AsTask()
                .Wait();
        Assert.Null(
            await _announcement.AnnounceAsync(Facts with { Addresses = ["192.168.1.9:9080"] }, CancellationToken.None)
        );
        Assert.Equal("192.168.1.9:9080", Assert.Single(Assert.Single(MemberRecord.All(_recordStore)).Record.Addresses));
    }

    [Theory]
    [InlineData(null, true)]
    [InlineData(false, false)]
    public async Task A_node_chosen_as_mirror_announces_that_at_its_first_start_unless_it_was_demoted(
        bool? recorded,
        bool? announced
    )
    {
        var mirror = new Announcement(_identity.AsMirror, _recordStore, TimeProvider.System);
        string key = MemberRecord.KeyOf(_identity.NodeId);
        var seat = new MemberRecord
        {
            Tag = "B",
            Name = "pi-1",
            Addresses = [],
            PublicKey = [],
            IsMirror = recorded,
        };
        await _recordStore.ChangeAsync(
            [new RecordChange(key, seat.ToJson(), ExpectedVersion: null)],
            CancellationToken.None
        );
        Assert.Null(await mirror.AnnounceAsync(Facts, CancellationToken.None));
        Assert.Equal(announced, MemberRecord.Parse(_recordStore.Find(key)!.Value.Span)!.IsMirror);

        // An older version, or an owner, has changed the record back.
        await _recordStore.ChangeAsync(
            [
                new RecordChange(
                    key,
                    (MemberRecord.Parse(_recordStore.Find(key)!.Value.Span)! with { IsMirror = null }).ToJson(),
                    ExpectedVersion: null
                ),
            ],
            CancellationToken.None
        );
        Assert.Null(await mirror.AnnounceAsync(Facts with { StartNumber = 4 }, CancellationToken.None));
        Assert.Null(MemberRecord.Parse(_recordStore.Find(key)!.Value.Span)!.IsMirror);
    }

    [Fact]
    public async Task A_formatted_store_does_not_replace_the_recorded_one()
    {
        // A formatted store has another id.
        await _announcement.AnnounceAsync(Facts, CancellationToken.None);
        var refused = await Assert.ThrowsAsync<IdentityException>(async () =>
            await _announcement.AnnounceAsync(Facts with { StoreId = Guid.Empty }, CancellationToken.None)
        );
        Assert.StartsWith(
            "This data directory contains another store than the cluster knows for node pi-1",
            refused.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task An_old_copy_does_not_replace_the_original()
    {
        await _announcement.AnnounceAsync(Facts, CancellationToken.None);
        var refused = await Assert.ThrowsAsync<IdentityException>(async () =>
            await _announcement.AnnounceAsync(Facts with { StartNumber = 2 }, CancellationToken.None)
        );
        Assert.StartsWith(
            "This is an old copy of node pi-1: its store was started 2 times, but the cluster has already seen "
                + "start 3.",
            refused.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_removed_member_does_not_create_a_record_again()
    {
        await _announcement.AnnounceAsync(Facts, CancellationToken.None);
        await _recordStore.ChangeAsync(
            [
                new RecordChange(
                    MemberRecord.KeyOf("another"),
                    Assert.Single(MemberRecord.All(_recordStore)).Record.ToJson(),
                    ExpectedVersion: null
                ),
                new RecordChange(MemberRecord.KeyOf(_identity.NodeId), Value: null, ExpectedVersion: null),
            ],
            CancellationToken.None
        );
        var refused = await Assert.ThrowsAsync<IdentityException>(async () =>
            await _announcement.AnnounceAsync(Facts, CancellationToken.None)
        );
        Assert.Contains("was removed from the cluster", refused.Message, StringComparison.Ordinal);
    }
}
