using Rookery.Cluster.Forming;
using Rookery.Cluster.Identity;
using Rookery.Simulation;

namespace Rookery.Cluster.Tests.Forming;

/// <summary>The decisions and answers of a node that forms a cluster, step by step.</summary>
public sealed class FormingNodeTests
{
    private const string Directory = "/data";

    private readonly SimulatedTimeProvider _time = new();
    private readonly HashSet<string> _claimed = new(StringComparer.Ordinal);

    [Fact]
    public void A_node_that_sees_too_few_others_waits_and_names_those_it_sees()
    {
        var (a, b) = (CreateNode("a"), CreateNode("b"));
        RunRound(a, b);
        Assert.Equal(FormingStep.Open, a.Note.Step);
        Assert.Equal("This node waits to form the cluster home of 3. It sees pi-b; 1 more is missing.", a.Describe([]));
    }

    [Fact]
    public void Three_nodes_form_a_cluster_and_each_reports_its_state()
    {
        var (a, b, c) = (CreateNode("a"), CreateNode("b"), CreateNode("c"));
        RunRound(a, b, c);
        Assert.Equal(FormingStep.Candidate, a.Note.Step);
        Assert.Equal(
            "This node founds the cluster home of 3 when all have promised to join: nobody did; 2 more are missing.",
            a.Describe([])
        );
        RunRound(b, a, c);
        Assert.Equal((FormingStep.Vowed, "pi-a"), (b.Note.Step, b.Note.FounderName));
        Assert.StartsWith(
            "This node has promised to join pi-a in the cluster home of 3, which has 0 of 2 promises.",
            b.Describe([]),
            StringComparison.Ordinal
        );
        b.Conclude([]);
        Assert.Contains(
            "which does not answer. This node continues when that node answers again. If that node's card is gone "
                + "for good, stop this node, delete /data/forming, and start it again.",
            b.Describe([]),
            StringComparison.Ordinal
        );
        RunRound(c, b, a);
        RunRound(b, a);
        Assert.Equal(FormingStep.Candidate, a.Note.Step);
        RunRound(c, a);
        Assert.Equal(
            ["pi-b", "pi-c"],
            a.Note.Members.Select(static member => member.Name).Order(StringComparer.Ordinal)
        );
        Assert.StartsWith(
            "This node has founded the cluster home of 3. pi-c promised to join and did not yet. A node that",
            a.Describe(["pi-c"]),
            StringComparison.Ordinal
        );

        // The node becomes leader a moment later; until then it can issue no token.
        Assert.Equal(FormingStep.Vowed, c.Note.Step);
        RunRound(token: "token", c, a);
        Assert.Equal((FormingStep.Admitted, "token", "pi-c"), (c.Note.Step, c.Note.Token, c.Note.Name));
        Assert.Equal("This node joins the cluster home of 3.", c.Describe([]));
        Assert.Equal("This node has founded the cluster home of 3.", a.Describe([]));
    }

    [Fact]
    public void A_node_that_expects_another_number_of_nodes_is_named_and_not_counted()
    {
        var (a, b, c) = (CreateNode("a"), CreateNode("b"), CreateNode("c", expect: 4));
        RunRound(a, b, c);
        RunRound(c, a, b);
        Assert.Equal((FormingStep.Open, FormingStep.Open), (a.Note.Step, c.Note.Step));
        Assert.EndsWith(
            "pi-c expects 4 nodes, and this one 3: use the same settings on each node.",
            a.Describe([]),
            StringComparison.Ordinal
        );

        RunRound(a, b, CreateNode("d"));
        var vow = c.CallTo(IdOf("a")) with { Vow = a.Note.Candidacy };
        Assert.Equal("pi-a expects 3 nodes.", a.Answer(vow)!.Trouble);
        Assert.Equal(0, a.Answer(vow)!.Vows);
    }

    [Fact]
    public void The_vow_of_a_second_node_of_the_same_name_is_not_counted_and_the_node_reports_why()
    {
        var (a, b, c) = (CreateNode("a"), CreateNode("b", name: "pi"), CreateNode("c", name: "pi"));
        RunRound(a, b, c);
        RunRound(b, a, c);
        RunRound(b, a);
        RunRound(c, a, b);
        RunRound(c, a);
        Assert.Equal(FormingStep.Candidate, a.Note.Step);
        Assert.EndsWith(
            "pi-a does not count the promise of pi, because another node has that name: give each its own "
                + "`hostname`, or none.",
            c.Describe([]),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_candidate_that_is_claimed_releases_the_nodes_that_vowed_to_it()
    {
        var (a, b, c) = (CreateNode("a"), CreateNode("b"), CreateNode("c"));
        RunRound(a, b, c);
        RunRound(b, a, c);
        _claimed.Add("a");
        RunRound(b, a);
        Assert.Equal((FormingStep.Out, FormingStep.Open), (a.Note.Step, b.Note.Step));
        Assert.Contains("it was claimed", a.Describe([]), StringComparison.Ordinal);
        RunRound(b, a, c);
        Assert.Contains(
            "It sees pi-a (which takes no part), pi-c; 1 more is missing.",
            b.Describe([]),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_vow_that_was_not_repeated_for_long_does_not_count()
    {
        var (a, b, c, d) = (CreateNode("a"), CreateNode("b"), CreateNode("c"), CreateNode("d"));
        RunRound(a, b, c);
        RunRound(b, a, c);
        RunRound(b, a);
        _time.Advance(TimeSpan.FromSeconds(31));
        RunRound(c, a, b);
        RunRound(c, a);
        Assert.Equal(FormingStep.Candidate, a.Note.Step);
        RunRound(d, a, c);
        RunRound(d, a);
        Assert.Equal(
            ["pi-c", "pi-d"],
            a.Note.Members.Select(static member => member.Name).Order(StringComparer.Ordinal)
        );

        // The node that was off returns.
        RunRound(b, a);
        Assert.StartsWith(
            "pi-a has founded the cluster home of 3 without this node, because more than 3 nodes were on.",
            b.Describe([]),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_node_whose_candidate_joined_another_founder_is_released()
    {
        var (a, b, c, d) = (CreateNode("a"), CreateNode("b"), CreateNode("c"), CreateNode("d"));
        RunRound(b, c, d);
        RunRound(c, b, d);
        Assert.Equal("pi-b", c.Note.FounderName);

        // Of two candidates, the one with the higher id gives up its candidacy.
        RunRound(a, d, CreateNode("e"));
        RunRound(b, a);
        Assert.Equal(FormingStep.Open, b.Note.Step);
        RunRound(b, a, d);
        RunRound(d, a, b);
        RunRound(b, a);
        RunRound(d, a);
        Assert.Equal(FormingStep.Founded, a.Note.Step);
        RunRound(c, a);
        Assert.Equal(FormingStep.Out, c.Note.Step);
    }

    [Fact]
    public void The_note_survives_a_restart_and_a_damaged_note_prevents_forming()
    {
        FormingNote[] notes =
        [
            FormingNote.Open,
            new FormingNote(FormingStep.Candidate) { Candidacy = "c" },
            new FormingNote(FormingStep.Vowed)
            {
                Candidacy = "c",
                Founder = "f",
                FounderName = "pi-1",
            },
            new FormingNote(FormingStep.Founded)
            {
                Candidacy = "c",
                Members = [new FormingMember("m", "pi-2", Secret: [1, 2])],
            },
            new FormingNote(FormingStep.Admitted) { Name = "pi-2", Token = "token" },
            new FormingNote(FormingStep.Out) { Why = "One sentence. Another." },
        ];
        var disk = new SimulatedDisk(Directory);
        Assert.Equal(FormingNote.Open, FormingNote.Read(disk, Directory));
        foreach (var note in notes)
        {
            note.Write(disk, Directory);
            var read = FormingNote.Read(disk.AfterPowerLoss(seed: 1), Directory);
            Assert.Equal(note with { Members = [] }, read with { Members = [] });
            Assert.Equal(
                note.Members.Select(static member => (member.NodeId, member.Name, Convert.ToHexString(member.Secret))),
                read.Members.Select(static member => (member.NodeId, member.Name, Convert.ToHexString(member.Secret)))
            );
        }

        disk.Rot(FormingNote.PathIn(Directory), offset: 20, mask: 0xff);
        Assert.Contains(
            "/data/forming is damaged",
            Assert.Throws<IdentityException>(() => FormingNote.Read(disk, Directory)).Message,
            StringComparison.Ordinal
        );
        FormingNote.Forget(disk, Directory);
        FormingNote.Forget(disk, Directory);
        Assert.Empty(disk.AfterPowerLoss(seed: 1).Files);
    }

    private static string IdOf(string letter) => string.Concat(Enumerable.Repeat(letter, 22));

    /// <summary>Runs one round of a node: it calls the others, and acts on their answers.</summary>
    private static void RunRound(FormingNode node, params FormingNode[] others) => RunRound(null, node, others);

    /// <summary>Runs one round of a node, in which every answer carries a join token; null for none.</summary>
    private static void RunRound(string? token, FormingNode node, params FormingNode[] others) =>
        node.Conclude([
            .. others.Select(other =>
                other.Answer(node.CallTo(other.Answer(node.CallTo(string.Empty))!.NodeId))! with
                {
                    Token = token,
                }
            ),
        ]);

    /// <summary>
    /// Makes a node whose id repeats a letter. Of the nodes that see each other, the one with the lowest id becomes
    /// candidate.
    /// </summary>
    private FormingNode CreateNode(string letter, int expect = 3, string? name = null)
    {
        var node = new FormingNode(
            new SimulatedDisk(Directory),
            Directory,
            new FormingSelf(IdOf(letter), name ?? $"pi-{letter}", "home", expect),
            () => !_claimed.Contains(letter),
            _time
        );
        node.Conclude([]);
        return node;
    }
}
