using System.Text.Json;
using Rookery.Cluster.Membership;
using Rookery.Documents.Consensus;

namespace Rookery.Cluster.Tests.Membership;

/// <summary>The list of members of `rookery cluster node ls`, and the note below it.</summary>
public sealed class MemberListingTests
{
    [Fact]
    public void The_note_on_two_members_names_the_command_that_changes_the_number_of_voters()
    {
        Assert.Contains(
            "`rookery cluster node promote b`",
            NoteOn(CreateMember("a", isVoter: true, isLeader: true), CreateMember("b", isVoter: false)),
            StringComparison.Ordinal
        );
        Assert.Contains(
            "`rookery cluster node demote b`",
            NoteOn(CreateMember("a", isVoter: true, isLeader: true), CreateMember("b", isVoter: true)),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void Learners_do_not_add_to_the_failure_tolerance() =>
        Assert.Equal(
            "3 members vote: with 1 of them off, writes go on.",
            NoteOn(
                CreateMember("a", isVoter: true, isLeader: true),
                CreateMember("b", isVoter: true),
                CreateMember("c", isVoter: true),
                CreateMember("d", isVoter: false)
            )
        );

    [Fact]
    public void The_note_counts_the_voters_that_are_off()
    {
        var off = CreateMember("c", isVoter: true) with { IsReachable = false };
        Assert.Equal(
            "3 members vote, and 1 of them is off: when another is off, nothing is written.",
            NoteOn(CreateMember("a", isVoter: true, isLeader: true), CreateMember("b", isVoter: true), off)
        );
        Assert.Equal(
            "5 members vote, and 1 of them is off: with 1 more off, writes go on.",
            NoteOn(
                CreateMember("a", isVoter: true, isLeader: true),
                CreateMember("b", isVoter: true),
                off,
                CreateMember("d", isVoter: true),
                CreateMember("e", isVoter: true)
            )
        );
    }

    [Fact]
    public void Figures_that_only_the_leader_knows_are_omitted_on_other_members()
    {
        using var listing = JsonDocument.Parse(
            MemberListing.ToJson(CreateCluster(trouble: null, [CreateMember("a", isVoter: true, isLeader: true)]))
        );
        Assert.False(listing.RootElement.GetProperty("Members")[0].TryGetProperty("LagEntries", out _));
    }

    /// <summary>
    /// A leader knows that a member does not answer, and nothing else about one that has never answered it.
    /// </summary>
    [Fact]
    public void Unknown_figures_are_omitted()
    {
        using var listing = JsonDocument.Parse(
            MemberListing.ToJson(
                CreateCluster(trouble: null, [CreateMember("a", isVoter: true) with { IsReachable = false }])
            )
        );
        var member = listing.RootElement.GetProperty("Members")[0];
        Assert.False(member.GetProperty("IsReachable").GetBoolean());
        Assert.All(
            (string[])["LagEntries", "SyncP99Milliseconds", "HeardSeconds", "SpareBytes"],
            name => Assert.False(member.TryGetProperty(name, out _))
        );
    }

    /// <summary>
    /// Before a restart of a member, the operator must know whether the others have space for the writes meanwhile.
    /// </summary>
    [Fact]
    public void The_spare_bytes_of_a_member_are_listed()
    {
        using var listing = JsonDocument.Parse(
            MemberListing.ToJson(
                CreateCluster(trouble: null, [CreateMember("a", isVoter: true) with { SpareBytes = -5 }])
            )
        );
        Assert.Equal(-5, listing.RootElement.GetProperty("Members")[0].GetProperty("SpareBytes").GetInt64());
    }

    [Fact]
    public void The_addresses_of_unreached_voters_are_listed_beside_the_note()
    {
        using var listing = JsonDocument.Parse(
            MemberListing.ToJson(
                CreateCluster("There is no leader.", [CreateMember("a", isVoter: true)]) with
                {
                    Unreached = ["b is looked for."],
                }
            )
        );
        Assert.Equal(
            "b is looked for.",
            Assert.Single(listing.RootElement.GetProperty("Unreached").EnumerateArray()).GetString()
        );
    }

    [Fact]
    public void Trouble_replaces_the_note()
    {
        using var listing = JsonDocument.Parse(
            MemberListing.ToJson(CreateCluster("There is no leader.", [CreateMember("a", isVoter: true)]))
        );
        Assert.Equal("There is no leader.", listing.RootElement.GetProperty("Note").GetString());
    }

    private static string NoteOn(params MemberStatistics[] members)
    {
        using var listing = JsonDocument.Parse(MemberListing.ToJson(CreateCluster(trouble: null, members)));
        return listing.RootElement.GetProperty("Note").GetString()!;
    }

    private static ConsensusStatistics CreateCluster(string? trouble, MemberStatistics[] members) =>
        new(
            Role: "Leader",
            Term: 1,
            LeaderTag: "A",
            LastIndex: 1,
            LastTerm: 1,
            CommitIndex: 1,
            AppliedIndex: 1,
            SyncMicroseconds: 1,
            ElectionTimeoutMicroseconds: 1,
            trouble,
            members
        );

    private static MemberStatistics CreateMember(string name, bool isVoter, bool isLeader = false) =>
        new(
            new ClusterViewMember(
                name.ToUpperInvariant(),
                name,
                name,
                Urls: [],
                PublicUrl: null,
                isVoter,
                isLeader,
                IsSelf: false
            ),
            RecordVersion: 1,
            IsReachable: null,
            LagEntries: null,
            SyncMicroseconds: null
        );
}
