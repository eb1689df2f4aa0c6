// Documents on the unchanged DotNext.Net.Cluster: the negative control of the process tests' checks, not a product.
using System.Text.Json;
using Rookery.StockRaft;

if (args is not ["serve", "--data", var data, "--listen", var url, "--members", var list])
{
    Console.Error.WriteLine(
        "usage: stock-raft serve --data DIR --listen URL --members PORT,PORT,PORT (this member's port first)"
    );
    return 64;
}

int[] ports = [.. list.Split(',').Select(int.Parse)];
var builder = WebApplication.CreateSlimBuilder();
builder.WebHost.UseUrls(url);
builder.Logging.SetMinimumLevel(LogLevel.Warning);
await using var app = builder.Build();
await using var member = await StockMember.StartAsync(data, ports[0], ports.Order(), app.Lifetime.ApplicationStopping);

app.MapGet("/readyz", () => "ok");
app.MapGet("/leads", () => member.Leads);
app.MapPut(
    "/databases/{name}/docs",
    async (string id, HttpRequest request, CancellationToken token) =>
        await StoreAsync(new(StringComparer.Ordinal) { [id] = await BodyOfAsync(request, token) }, token)
);
app.MapPost(
    "/databases/{name}/bulk_docs",
    async (HttpRequest request, CancellationToken token) =>
    {
        var commands = (await BodyOfAsync(request, token)).GetProperty("Commands").EnumerateArray();
        return await StoreAsync(
            commands.ToDictionary(
                command => command.GetProperty("Id").GetString()!,
                command => command.GetProperty("Document"),
                StringComparer.Ordinal
            ),
            token
        );
    }
);
app.MapPost(
    "/databases/{name}/docs",
    async (HttpRequest request, CancellationToken token) =>
    {
        var ids = (await BodyOfAsync(request, token)).GetProperty("Ids").EnumerateArray().Select(id => id.GetString()!);
        var results = await member.LoadAsync(ids, token);
        return new Dictionary<string, JsonElement?[]>(StringComparer.Ordinal) { ["Results"] = results };
    }
);
await app.RunAsync();
return 0;

async Task<IResult> StoreAsync(Dictionary<string, JsonElement> written, CancellationToken token)
{
    if (!member.Leads)
    {
        return Results.StatusCode(StatusCodes.Status503ServiceUnavailable);
    }

    try
    {
        await member.StoreAsync(written, token);
        return Results.StatusCode(StatusCodes.Status201Created);
    }
    catch (InvalidOperationException)
    {
        return Results.StatusCode(StatusCodes.Status503ServiceUnavailable);
    }
}

// Ignores the content type, because the load sends none.
static async Task<JsonElement> BodyOfAsync(HttpRequest request, CancellationToken token)
{
    using var body = await JsonDocument.ParseAsync(request.Body, cancellationToken: token);
    return body.RootElement.Clone();
}
