using System.Globalization;
using Rookery.Raft;
using Xunit.Abstractions;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Clients store and delete attachments through all members of a simulated cluster, under faults that the seed decides.
/// Afterwards every acknowledged attachment can be read with equal bytes from every member, and no other content is
/// left. The rule of <see cref="AttachmentRun"/> is checked after each step. The environment variables ATTACHMENT_SEEDS
/// and ATTACHMENT_FIRST set the number of seeds and the first one.
/// </summary>
[Trait("Effort", "Whole")]
public sealed class AttachmentSeedTests(ITestOutputHelper report)
{
    private const int Documents = 4;
    private const int Names = 3;
    private const int Rounds = 60;

    private static readonly int[] Sizes = [0, 1, 1000, 70_000, 262_144, 300_000, 600_000];

    [Fact]
    public void Every_member_has_all_acknowledged_attachments_and_no_other_content()
    {
        int first = Number("ATTACHMENT_FIRST", fallback: 1);
        var seen = new Dictionary<string, int>(StringComparer.Ordinal);
        for (int seed = first; seed < first + Number("ATTACHMENT_SEEDS", fallback: 8); seed++)
        {
            Run(seed, seen);
        }

        Assert.True(seen.GetValueOrDefault("acknowledged") > 0);
        Assert.True(seen.GetValueOrDefault("pieces") > 0);
        Assert.True(seen.GetValueOrDefault("states") > 0 || first != 1);
        report.WriteLine(string.Join(", ", seen.Select(static count => $"{count.Key} {count.Value}")));
    }

    private static void Run(int seed, Dictionary<string, int> seen)
    {
        using var cluster = new SteppedCluster(seed)
        {
            RetainedJournalBytes = seed % 2 == 0 ? 0 : 1 << 20,
            CautionMicroseconds = 0,
        };
        cluster.Form(members: 3);
        var run = new AttachmentRun(cluster);
        for (int i = 0; i < Documents; i++)
        {
            cluster.Put(cluster.AwaitLeader(), $"d{i}");
        }

        var random = new Random(seed);
        var busy = new Dictionary<(string, string), Task>();
        cluster.Wire.LosesOffers = seed % 5 == 3;
        for (int round = 0; round < Rounds; round++)
        {
            cluster.Wire.ContentMilliseconds = random.Next(4) == 0 ? 1000 : 3;
            DoFault(cluster, random, seen);
            for (int i = random.Next(4); i > 0; i--)
            {
                DoRequest(cluster, run, random, busy);
            }

            Step(cluster, run, random.Next(10, 3000));
        }

        cluster.Wire.LosesOffers = false;
        cluster.Wire.ContentMilliseconds = 3;
        cluster.Wire.Heal();
        foreach (var member in cluster.Members.Where(static member => !member.IsUp))
        {
            member.Open();
        }

        Step(cluster, run, milliseconds: 100_000); // every request is answered or unknown
        cluster.AwaitEqual(seconds: 200);
        Step(cluster, run, milliseconds: 200_000); // leases end, and garbage is deleted
        cluster.AwaitEqual();
        run.CheckEnd();
        Count(seen, "acknowledged", run.Acknowledged);
        Count(seen, "pieces", cluster.Wire.Pieces);
        Count(seen, "states", cluster.Wire.StatesFetched);
    }

    private static void DoRequest(
        SteppedCluster cluster,
        AttachmentRun run,
        Random random,
        Dictionary<(string, string), Task> busy
    )
    {
        var member = cluster.Members[random.Next(cluster.Members.Count)];
        string id = $"d{random.Next(Documents)}";
        string name = $"a{random.Next(Names)}";
        if (
            !member.IsUp
            || member.PausedMilliseconds > 0
            || busy.GetValueOrDefault((id, name)) is { IsCompleted: false }
        )
        {
            return;
        }

        int content = random.Next(10);
        busy[(id, name)] =
            random.Next(3) == 0
                ? run.DetachAsync(member, id, name)
                : run.AttachAsync(member, id, name, AttachmentRun.ContentOf(content, Sizes[content % Sizes.Length]));
    }

    private static void DoFault(SteppedCluster cluster, Random random, Dictionary<string, int> seen)
    {
        var member = cluster.Members[random.Next(cluster.Members.Count)];
        switch (random.Next(12))
        {
            case 0 when member.IsUp:
                member.Kill();
                Count(seen, "killed", 1);
                break;
            case 1 when member.IsUp:
                member.LosePower();
                Count(seen, "power lost", 1);
                break;
            case 2 when member.IsUp:
                cluster.Wire.Isolate(member);
                Count(seen, "isolated", 1);
                break;
            case 3:
                cluster.Wire.Heal();
                break;
            case 4 when cluster.Leader is { } leader:
                leader.Consensus!.Transfer(NodeId.None);
                Count(seen, "transferred", 1);
                break;
            case 5 when cluster.Leader is { } leader:
                for (int i = 0; i < 40; i++)
                {
                    _ = leader.Propose(SteppedCluster.PutOf($"p{i}", i, padding: 2000));
                }

                break;
            case 6 when cluster.Leader is { } leader:
                leader.Kill();
                Count(seen, "leader killed", 1);
                break;
            default:
                foreach (var down in cluster.Members.Where(static member => !member.IsUp))
                {
                    down.Open();
                }

                break;
        }
    }

    private static void Step(SteppedCluster cluster, AttachmentRun run, double milliseconds)
    {
        long end = cluster.Now + (long)(milliseconds * 1000);
        while (cluster.Now < end)
        {
            cluster.Step();
            run.CheckJournals();
        }
    }

    private static void Count(Dictionary<string, int> seen, string what, int count) =>
        seen[what] = seen.GetValueOrDefault(what) + count;

    private static int Number(string variable, int fallback) =>
        int.TryParse(
            Environment.GetEnvironmentVariable(variable),
            NumberStyles.None,
            CultureInfo.InvariantCulture,
            out int number
        )
            ? number
            : fallback;
}
