namespace Rookery.Server.Tests.Raven;

/// <summary>The headers of an export.</summary>
public sealed class ExportTests(RunningServer server) : IClassFixture<RunningServer>
{
    [Fact]
    public async Task An_export_says_how_much_it_leaves_out()
    {
        string db = await server.CreateDatabaseAsync();
        await server.SendAsync("PUT", db + "/docs?id=users/1", """{"@metadata":{"@collection":"Users"} }""");
        Assert.Equal(200, (await server.SendAsync("GET", db + "/export")).Status);
        await server.SendAsync("PUT", db + "/attachments?id=users/1&name=a", [1]);
        await server.SendAsync("PUT", db + "/cmpxchg?key=k&index=0", """{"Object":1}""");
        await server.SendAsync("PUT", db + "/docs?id=users|", "{}");
        string[] maps = ["from u in docs.Users select new { u.Name }", "from u in docs.Users select new { u.Age }"];
        foreach (string map in maps)
        {
            string index = $$"""{"Indexes":[{"Name":"I{{map.Length}}","Maps":["{{map}}"]}]}""";
            Assert.Equal(201, (await server.SendAsync("PUT", db + "/admin/indexes", index)).Status);
        }

        using var export = await server.Http.GetAsync(new Uri(server.Address, db + "/export"));
        Assert.Equal("1", Left("Attachments"));
        Assert.Equal("1", Left("Compare-Exchange"));
        Assert.Equal("1", Left("Identities"));
        Assert.Equal("2", Left("Indexes"));
        Assert.Equal("0", Left("Counters"));
        string Left(string what) => export.Headers.GetValues("Rookery-Left-Out-" + what).Single();
        Assert.Contains("\"@attachments\"", await export.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }
}
