using Rookery.Server.Alerts;
using Rookery.Server.Observation;

namespace Rookery.Server.Tests.Observation;

/// <summary>The answers to "May I unplug this one?" and the health of the cluster.</summary>
public sealed class UnplugRuleTests
{
    // Nodes A, B, C and so on, each as role and state. Roles: v voter, L leader, l learner. States: + up, - down,
    // ? unknown, ~ lagging, ! full. Then the successor, the node to unplug, and the expected answer.
    [Theory]
    [InlineData(
        "L+ v+ v+",
        "B",
        "A",
        true,
        "Yes. pi-B leads next; after that the cluster tolerates no further failure."
    )]
    [InlineData(
        "L+ v+ v+",
        "B",
        "B",
        true,
        "Yes. pi-A goes on leading; after that the cluster tolerates no further failure."
    )]
    [InlineData(
        "L+ v+ v-",
        "B",
        "B",
        false,
        "No. pi-C does not answer, and without this one too few voters would be left: nothing could be written."
    )]
    [InlineData(
        "L+ v+ v-",
        "B",
        "A",
        false,
        "No. pi-C does not answer, and without this one too few voters would be left: nothing could be written."
    )]
    [InlineData(
        "L+ v+ v-",
        "B",
        "C",
        true,
        "Yes. It does not answer, so nothing waits for it. After that the cluster tolerates no further failure."
    )]
    [InlineData(
        "L+ v+ v~",
        "B",
        "B",
        false,
        "No. pi-C still lacks 9000 entries, and without this one too few voters would have everything: nothing "
            + "could be written."
    )]
    [InlineData(
        "L+ v+ v~",
        "B",
        "C",
        true,
        "Yes. pi-A goes on leading; after that the cluster tolerates no further failure."
    )]
    [InlineData(
        "L+ v+ v+ v+ v+",
        "D",
        "A",
        true,
        "Yes. pi-D leads next; after that the cluster tolerates one more failure."
    )]
    [InlineData(
        "L+ v+ v+ l+",
        "B",
        "D",
        true,
        "Yes. It has no vote, so nothing waits for it. After that the cluster tolerates one more failure."
    )]
    [InlineData("L+ l+", null, "A", false, "No. It is the only voter: while it is off, nothing is written.")]
    [InlineData("L+ v+", "B", "B", false, "No. There are two voters, and while either is off nothing is written.")]
    [InlineData("L+", null, "A", false, "No. It is the only node: while it is off, nothing is served.")]
    [InlineData("v+ v- v-", null, "A", false, "No. There is no leader now, and each node that is off makes it worse.")]
    [InlineData(
        "v+ v- v-",
        null,
        "B",
        false,
        "It does not answer. There is no leader now: start it again, because its vote may be needed."
    )]
    [InlineData(
        "L+ v? v+",
        "C",
        "B",
        false,
        "Unknown. No member has reported yet whether it answers. Ask again in some seconds."
    )]
    [InlineData(
        "L! v! v!",
        "B",
        "B",
        false,
        "No. Nothing new can be written now, and each node that is off makes it worse. Free some space first; "
            + "to give it a larger card, go from one node to the next."
    )]
    [InlineData(
        "L+ v+ v!",
        "B",
        "B",
        false,
        "No. The card of pi-C is full, and without this one too few voters would have room: nothing new could "
            + "be written."
    )]
    [InlineData(
        "L+ v+ v!",
        "B",
        "C",
        true,
        "Yes. pi-A goes on leading; after that the cluster tolerates no further failure."
    )]
    public void The_unplug_answer_names_the_next_leader_and_the_remaining_margin(
        string nodes,
        string? successor,
        string unplugged,
        bool mayI,
        string sentence
    )
    {
        var cluster = ClusterOf(nodes, successor);
        Assert.Equal(
            (mayI, sentence),
            UnplugRule.Judge(
                cluster,
                cluster.Nodes.First(node => string.Equals(node.Tag, unplugged, StringComparison.Ordinal))
            )
        );
    }

    [Fact]
    public void A_node_without_the_leaders_view_answers_unknown()
    {
        var cluster = ClusterOf("L+ v+ v+", "B") with { IsLeadersView = false };
        Assert.Equal(
            (
                false,
                "Unknown. pi-A leads, but has not reported the state of the others to this node yet. Ask again in some seconds."
            ),
            UnplugRule.Judge(cluster, cluster.Nodes[1])
        );
    }

    // Nodes as above, the level, and the sentence.
    [Theory]
    [InlineData("L+ v+ v+", "ok", "All 3 nodes are well; the cluster tolerates the failure of any one of them.")]
    [InlineData("L+ v+ v+ v+ v+", "ok", "All 5 nodes are well; the cluster tolerates the failure of any 2 of them.")]
    [InlineData(
        "L+ v+ v+ l+",
        "ok",
        "All 4 nodes are well; the cluster tolerates the failure of any one of the voters."
    )]
    [InlineData("L+ v+", "ok", "Both nodes are well; while either is off, nothing is written.")]
    [InlineData("L+ l+", "ok", "Both nodes are well; while pi-A is off, nothing is written.")]
    [InlineData("L+", "ok", "This node is well. It is the only one: its data are nowhere else but in backups.")]
    [InlineData(
        "L+ v+ v-",
        "warning",
        "Writes go on, and the cluster tolerates no further failure: pi-C does not answer, and 2 of 3 nodes run."
    )]
    [InlineData(
        "L+ v+ v+ v+ v-",
        "warning",
        "Writes go on, and the cluster tolerates one more failure: pi-E does not answer, and 4 of 5 nodes run."
    )]
    [InlineData(
        "L+ v- v-",
        "error",
        "Nothing is written until one returns: pi-B and pi-C do not answer, and 1 of 3 nodes runs."
    )]
    [InlineData(
        "v+ v- v-",
        "error",
        "Nothing is written until a majority of the voters reach each other: there is no leader now."
    )]
    [InlineData("L+ v? v+", "warning", "The state of pi-B is not known yet.")]
    [InlineData(
        "L! v! v!",
        "error",
        "Nothing new can be written: all 3 cards are full. Documents can be read and deleted; free some space, "
            + "or give them larger cards."
    )]
    [InlineData(
        "L+ v! v!",
        "error",
        "Nothing new can be written: the cards of pi-B and pi-C are full. Documents can be read and deleted; "
            + "free some space, or give them larger cards."
    )]
    [InlineData(
        "L+ v! v-",
        "error",
        "Nothing new can be written: the card of pi-B is full, and others do not answer. Documents can be read "
            + "and deleted; free some space, or give it a larger card."
    )]
    [InlineData(
        "L! v!",
        "error",
        "Nothing new can be written: both cards are full. Documents can be read and deleted; free some space, "
            + "or give them larger cards."
    )]
    [InlineData(
        "L! l+",
        "error",
        "Nothing new can be written: the card of pi-A, the only voter, is full. Documents can be read and "
            + "deleted; free some space, or give it a larger card."
    )]
    [InlineData(
        "L!",
        "error",
        "Nothing new can be written: this node's card is full. Documents can be read and deleted; free some "
            + "space, or give it a larger card."
    )]
    [InlineData("L+ v+ v!", "ok", "All 3 nodes are well; the cluster tolerates the failure of any one of them.")]
    public void The_clusters_health_is_one_sentence(string nodes, string level, string sentence) =>
        Assert.Equal((level, sentence), HealthRule.Judge(ClusterOf(nodes, "B"), alerts: []));

    [Theory]
    [InlineData("L!", "the file system of this node's journal, in /mnt/j, is full")]
    [InlineData("L! l+", "the file system of the journal of pi-A, the only voter, in /mnt/j, is full")]
    [InlineData("L! v- v+", "the file system of the journal of pi-A, in /mnt/j, is full, and others do not answer")]
    public void A_full_journal_device_is_named(string nodes, string place)
    {
        var cluster = ClusterOf(nodes, "B");
        LiveNode[] known = [cluster.Nodes[0] with { FullJournalDirectory = "/mnt/j" }, .. cluster.Nodes.Skip(1)];
        Assert.Equal(
            $"Nothing new can be written: {place}. Documents can be read and deleted; free some space, or give the "
                + "journal a larger device.",
            GrowthRule.WhyRefused(cluster with { Nodes = known })
        );
    }

    [Fact]
    public void Health_reports_the_worst_alert_when_all_nodes_answer()
    {
        MemberAlert[] alerts = [CreateAlert("warning", "It is warm."), CreateAlert("critical", "The card stalls.")];
        Assert.Equal(
            ("error", "pi-B: The card stalls. (and 1 more)"),
            HealthRule.Judge(ClusterOf("L+ v+ v+", "B"), alerts)
        );
        Assert.Equal(("warning", "pi-B: It is warm."), HealthRule.Judge(ClusterOf("L+ v+ v+", "B"), alerts[..1]));
    }

    [Fact]
    public void Health_reports_first_why_a_node_does_not_serve()
    {
        var cluster = ClusterOf("L+ v+ v+", "B");
        var refusing = cluster with
        {
            Nodes = [cluster.Nodes[0], cluster.Nodes[1] with { Reason = "Its disk is read-only." }, cluster.Nodes[2]],
        };
        Assert.Equal(
            ("warning", "pi-B serves no documents: Its disk is read-only."),
            HealthRule.Judge(refusing, alerts: [])
        );
        var self = cluster with
        {
            Nodes = [cluster.Nodes[0] with { Reason = "Its disk is read-only." }, .. cluster.Nodes.Skip(1)],
        };
        Assert.Equal(
            ("error", "This node serves no documents: Its disk is read-only."),
            HealthRule.Judge(self, alerts: [])
        );
    }

    private static MemberAlert CreateAlert(string severity, string sentence) =>
        new("B", new ActiveAlert("some", severity, DateTimeOffset.UnixEpoch, sentence, "Look.", "/help"));

    /// <summary>Returns the view of node A, which is the first one.</summary>
    /// <param name="nodes">Two characters for each node, from A on: its role and its state.</param>
    /// <param name="successor">Tag of the next leader; null if there is none.</param>
    private static LiveCluster ClusterOf(string nodes, string? successor)
    {
        var all = nodes
            .Split(' ')
            .Select(
                (node, index) =>
                {
                    string tag = ((char)('A' + index)).ToString();
                    return new LiveNode(
                        tag,
                        "pi-" + tag,
                        IsVoter: node[0] is not 'l',
                        IsLeader: node[0] is 'L',
                        IsSelf: index == 0
                    )
                    {
                        State = node[1] switch
                        {
                            '-' => NodeState.Down,
                            '?' => NodeState.Unknown,
                            _ => NodeState.Up,
                        },
                        LagEntries = node[1] switch
                        {
                            '~' => 9000,
                            '?' => null,
                            _ => 3,
                        },
                        // Free bytes beyond the reserve.
                        SpareBytes = node[1] == '!' ? -(13L << 30) : 1L << 30,
                    };
                }
            )
            .ToList();
        string? leader = all.FirstOrDefault(node => node.IsLeader)?.Tag;
        return new LiveCluster(
            all,
            leader,
            leader is null ? null : successor,
            LimitedBy: null,
            IsLeadersView: leader is not null,
            Trouble: null
        );
    }
}
