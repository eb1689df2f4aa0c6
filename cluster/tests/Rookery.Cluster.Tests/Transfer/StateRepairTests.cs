using Rookery.Cluster.Transfer;
using Rookery.Documents.Transfer;

namespace Rookery.Cluster.Tests.Transfer;

/// <summary>Damaged runs of one node that are repaired with the rows of another.</summary>
public sealed class StateRepairTests
{
    [Fact]
    public async Task A_damaged_run_is_repaired_by_the_rows_of_a_member()
    {
        using var member = new StateNode();
        using var node = new StateNode();
        member.Fill(300);
        node.Fill(300);
        string storage = "/data/node/storage";
        foreach (
            string run in node
                .Disk.List(storage)
                .Where(static name => name.EndsWith(".run", StringComparison.Ordinal))
                .Take(2)
        )
        {
            node.Disk.Rot($"{storage}/{run}", offset: 3000, mask: 10);
        }

        await using var server = await StateServer.StartAsync(member.Routes);
        var repair = new StateRepair(node.Core, static work => Task.Run(work), TimeProvider.System);
        // Nothing is repaired before the scrub has found the damage.
        Assert.Equal(0, await repair.RunAsync(server.Client, CancellationToken.None));
        Scrub(node);
        Assert.NotEmpty(node.Core.Storage.Statistics().Damage);
        Assert.Equal(2, await repair.RunAsync(server.Client, CancellationToken.None));
        Scrub(node);
        Assert.Empty(node.Core.Storage.Statistics().Damage);
        Assert.Equal(300, node.Count());
        Assert.Equal(2, node.Core.Transfers.InstalledOf(StateTransferKind.Repairs));
        Assert.Empty(member.Disk.List("/data/node/offer-rows"));
    }

    [Theory]
    [InlineData("/state/rows", 400)]
    [InlineData("/state/rows?group=1&from=00&to=zz", 400)]
    [InlineData("/state/rows?group=1&from=02&to=01", 400)]
    [InlineData("/state/rows?group=1&from=00&to=01", 200)]
    public async Task Requests_for_rows_get_the_documented_status(string path, int status)
    {
        using var member = new StateNode();
        await using var server = await StateServer.StartAsync(member.Routes);
        using var answer = await server.GetAsync(path);
        Assert.Equal(status, (int)answer.StatusCode);
    }

    [Fact]
    public async Task The_damage_of_a_member_that_cannot_read_the_rows_is_reported()
    {
        using var member = new StateNode();
        using var node = new StateNode();
        member.Fill(300);
        node.Fill(300);
        foreach (var damaged in new[] { member, node })
        {
            string run = damaged
                .Disk.List("/data/node/storage")
                .First(static name => name.EndsWith(".run", StringComparison.Ordinal));
            damaged.Disk.Rot($"/data/node/storage/{run}", offset: 3000, mask: 10);
            Scrub(damaged);
        }

        await using var server = await StateServer.StartAsync(member.Routes);
        var repair = new StateRepair(node.Core, static work => Task.Run(work), TimeProvider.System);
        Assert.Contains(
            "is damaged at byte",
            (
                await Assert.ThrowsAsync<StateTransferException>(() =>
                    repair.RunAsync(server.Client, CancellationToken.None)
                )
            ).Message,
            StringComparison.Ordinal
        );
    }

    private static void Scrub(StateNode node)
    {
        while (!node.Core.Storage.ScrubOnce(1 << 20)) { }
    }
}
