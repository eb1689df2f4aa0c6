using Rookery.Cluster.Joining;
using Rookery.Cluster.Peers;

namespace Rookery.Cluster.Tests.Joining;

/// <summary>A member decides by the members' records which nodes may connect.</summary>
public sealed class MemberAdmissionTests
{
    private static readonly Guid Store = new("6f9619ff-8b86-d011-b42d-00c04fc964ff");

    // A member whose seventh start is recorded, and one that was never started.
    private static readonly Dictionary<string, MemberRecord> Members = new(StringComparer.Ordinal)
    {
        ["other"] = new MemberRecord
        {
            Tag = "B",
            Name = "pi-2",
            Addresses = [],
            PublicKey = [],
            StoreId = Store,
            StartNumber = 7,
            StartId = 77,
        },
        ["fresh"] = new MemberRecord
        {
            Tag = "C",
            Name = "pi-3",
            Addresses = [],
            PublicKey = [],
        },
    };

    [Fact]
    public void A_member_is_admitted_with_its_recorded_store_or_with_any_before_its_first_start()
    {
        Assert.Null(Judge(HelloOf("other", startNumber: 7)));
        Assert.Null(Judge(HelloOf("other", startNumber: 8)));
        Assert.Null(Judge(HelloOf("fresh", startNumber: 1)));
    }

    [Fact]
    public void A_node_that_was_removed_is_refused() =>
        Assert.Equal(
            "Node gone is not a member of this cluster (any more), according to the records of the "
                + "member that refuses it. `rookery status` on the refused node says whether most members refuse it, "
                + "and what to do then.",
            Judge(HelloOf("gone", startNumber: 1))
        );

    [Fact]
    public void A_node_that_has_just_joined_admits_every_member() =>
        Assert.Null(MemberAdmission.Judge(HelloOf("other", startNumber: 7), member: null, mustBeRecorded: false));

    /// <summary>
    /// The journal's configuration names a member whose record is not applied yet, and only that member can tell this
    /// node that the record is committed.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_member_of_the_configuration_in_force_needs_no_record(bool isConfigured)
    {
        var admission = new MemberAdmission(
            "fresh",
            Members.GetValueOrDefault,
            node => isConfigured && node == Rookery.Cluster.Members.IdOf("joined"),
            static () => true
        );
        Assert.Equal(isConfigured, admission.Refuse(HelloOf("joined", startNumber: 1)) is null);
    }

    /// <summary>
    /// The node was off while all others were replaced, and learns the new members only from them. Old cards of members
    /// that it knows are refused all the same.
    /// </summary>
    [Fact]
    public void A_node_that_has_not_caught_up_refuses_no_member_as_removed()
    {
        bool hasCaughtUp = false;
        var admission = new MemberAdmission("fresh", Members.GetValueOrDefault, static _ => false, () => hasCaughtUp);
        Assert.Null(admission.Refuse(HelloOf("replacement", startNumber: 1)));
        Assert.Contains(
            "an old copy",
            admission.Refuse(HelloOf("other", startNumber: 6))!.Sentence,
            StringComparison.Ordinal
        );
        hasCaughtUp = true;
        Assert.Contains(
            "is not a member of this cluster (any more)",
            admission.Refuse(HelloOf("replacement", startNumber: 1))!.Sentence,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_known_member_with_an_empty_disk_is_refused()
    {
        string? refusal = Judge(HelloOf("other", startNumber: 8) with { StoreId = default });
        Assert.StartsWith(
            "The store of node pi-2 (B) is not the one that the cluster knows: its card was replaced or formatted",
            refusal,
            StringComparison.Ordinal
        );
        Assert.EndsWith(
            "Remove it with `rookery cluster node rm pi-2`, and let it join anew with an empty data directory.",
            refusal,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_member_with_fewer_starts_than_recorded_is_refused_as_an_old_copy() =>
        Assert.Equal(
            "This is an old copy of node pi-2 (B): its store was started 6 times, but the cluster has "
                + "already seen start 7. An old card must not vote: take it out, remove the node with `rookery cluster "
                + "node rm pi-2`, and let an empty card join.",
            Judge(HelloOf("other", startNumber: 6))
        );

    [Fact]
    public void A_copy_with_the_same_number_of_starts_is_refused_by_the_record_alone() =>
        Assert.Contains(
            "this card reported a sync that did not happen",
            Judge(HelloOf("other", startNumber: 7) with { StartId = 78 }),
            StringComparison.Ordinal
        );

    private static string? Judge(PeerHello hello) =>
        MemberAdmission.Judge(hello, Members.GetValueOrDefault(hello.NodeId), mustBeRecorded: true)?.Sentence;

    private static PeerHello HelloOf(string node, long startNumber) =>
        new()
        {
            ClusterId = "cluster",
            NodeId = node,
            StoreId = Store,
            StartNumber = startNumber,
            StartId = 77,
            FeatureLevel = 1,
        };
}
