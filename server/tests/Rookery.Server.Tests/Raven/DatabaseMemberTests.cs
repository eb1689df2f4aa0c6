namespace Rookery.Server.Tests.Raven;

/// <summary>Which members hold a database: always all of them.</summary>
public sealed class DatabaseMemberTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task A_database_is_on_all_members_so_nothing_is_added_promoted_or_reordered()
    {
        string name = (await server.CreateDatabaseAsync())["/databases/".Length..];
        (await server.SendAsync("PUT", $"/admin/databases/node?name={name}")).IsRefusal(
            400,
            "already exists on all the nodes"
        );
        var record = (await server.SendAsync("GET", $"/admin/databases?name={name}")).Json;
        string tag = record.GetProperty("Topology").GetProperty("Members")[0].GetString()!;
        var promoted = await server.SendAsync("POST", $"/admin/databases/promote?name={name}&node={tag}");
        Assert.Equal(201, promoted.Status);
        Assert.Equal(name, promoted.Json.GetProperty("Name").GetString());
        Assert.Equal(record.GetProperty("Topology").GetRawText(), promoted.Json.GetProperty("Topology").GetRawText());
        (await server.SendAsync("POST", $"/admin/databases/promote?name={name}&node=Z")).IsRefusal(400, "no node 'Z'");
        string order = $"/admin/databases/reorder?name={name}";
        Assert.Equal(
            204,
            (await server.SendAsync("POST", order, $$"""{"MembersOrder":["{{tag}}"],"Fixed":false}""")).Status
        );
        (await server.SendAsync("POST", order, """{"MembersOrder":["Z"]}""")).IsRefusal(400, "must name the members");
        (await server.SendAsync("POST", order, """{"MembersOrder":["A"],"Fixed":true}""")).IsRefusal(501, "Fixed");
        Assert.Equal(503, (await server.SendAsync("PUT", "/admin/databases/node?name=none")).Status);
    }

    [Fact]
    public async Task A_delay_is_bounded()
    {
        Assert.Equal(204, (await server.SendAsync("GET", "/admin/test/delay?value=1")).Status);
        (await server.SendAsync("GET", "/admin/test/delay?value=60001")).IsRefusal(400, "at most");
    }
}
