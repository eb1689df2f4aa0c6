using System.Globalization;
using System.Text;

namespace Rookery.Server.Tests.Raven;

/// <summary>
/// Random requests to every route: an answer below 500 (or 501, 503, 507 by name), never a hang, and a healthy server
/// afterwards.
/// </summary>
public sealed class RouteFuzzTests(RunningServer server) : IClassFixture<RunningServer>
{
    // An entry that is listed twice is picked more often.
    private static readonly string[] Methods =
    [
        "GET",
        "GET",
        "PUT",
        "POST",
        "DELETE",
        "PATCH",
        "HEAD",
        "RESET",
        "OPTIONS",
    ];

    private static readonly string[] Paths =
    [
        "/docs",
        "/docs",
        "/docs",
        "/bulk_docs",
        "/bulk_docs",
        "/bulk_insert",
        "/queries",
        "/queries",
        "/streams/docs",
        "/streams/queries",
        "/multi_get",
        "/hilo/next",
        "/hilo/return",
        "/identity/next",
        "/identity/seed",
        "/debug/identities",
        "/healthcheck",
        "/configuration/client",
        "/changes",
        "/stats",
        "/stats/essential",
        "/stats/detailed",
        "/collections/stats",
        "/collections/stats/detailed",
        "/operations/next-operation-id",
        "/operations/state",
        "/operations/kill",
        "/indexes",
        "/attachments",
        "/x/%2F/y",
        "/docs/",
        "//docs",
    ];

    private static readonly string[] Names =
    [
        "id",
        "id",
        "include",
        "startsWith",
        "start",
        "pageSize",
        "matches",
        "exclude",
        "startAfter",
        "metadataOnly",
        "format",
        "tag",
        "lastBatchSize",
        "lastRangeAt",
        "lastMax",
        "end",
        "last",
        "identityPartsSeparator",
        "name",
        "value",
        "force",
        "queryHash",
        "debug",
        "numberOfReplicasToWaitFor",
        "waitForIndexesTimeout",
        "skipOverwriteIfUnchanged",
        "skipPatchIfChangeVectorMismatch",
        "nodeTag",
        "",
    ];

    private static readonly string[] Values =
    [
        "",
        "a",
        "users/",
        "users|",
        "users%2F1",
        "%FF",
        "%",
        "%zz",
        "-1",
        "0",
        "7",
        "9223372036854775807",
        "99999999999999999999",
        "true",
        "*",
        "1*|?",
        "jsonl",
        "json",
        "00:00:05",
        "1970-01-01T00:00:00.0000000Z",
        "a.b[]",
        "[]",
        "Raven/Hilo/users",
        "%00",
        "%C3%98",
        "majority",
        "|",
        "/",
    ];

    private static readonly string[] Bodies =
    [
        "{}",
        "[]",
        "null",
        "",
        "{\"a\":1}",
        "{\"@metadata\":{\"@collection\":\"Users\"}}",
        "{\"Commands\":[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":{\"x\":[1]}}]}",
        "{\"Commands\":[{\"Id\":\"a\",\"Type\":\"DELETE\"},{\"Id\":\"a\",\"Type\":\"PATCH\","
            + "\"Patch\":{\"Script\":\"this.x = args.v;\",\"Values\":{\"v\":[{}]}}}]}",
        "{\"Query\":\"from Users where id() in ($p) limit 1, 2\",\"QueryParameters\":{\"p\":[\"a\"]}}",
        "{\"Query\":\"from @all_docs where startsWith(id(), 'u') include a.b[]\"}",
        "[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":{}},{\"Type\":\"HeartBeat\"}]",
        "{\"Ids\":[\"a\",\"b\",null]}",
        "{\"Requests\":[{\"Url\":\"/docs\",\"Query\":\"?id=a\",\"Method\":\"GET\"},{\"Url\":\"/queries\","
            + "\"Method\":\"POST\",\"Content\":\"{}\"}]}",
        "{\"Patch\":{\"Script\":\"this.tags.push(args.a);\",\"Values\":{\"a\":1}},\"PatchIfMissing\":null}",
        "{\"DatabaseName\":\"fuzz\"}",
    ];

    [Fact]
    public async Task No_request_breaks_the_server()
    {
        string db = await server.CreateDatabaseAsync();
        const int Requests = 4_000;
        for (int seed = 0; seed < Requests; seed++)
        {
            var random = new Random(seed);
            string method = Pick(random, Methods);
            string url = (random.Next(40) == 0 ? "/databases/missing" : db) + Pick(random, Paths) + PickQuery(random);
            byte[]? body = method is "GET" or "HEAD"
                ? null
                : Mutate(random, Encoding.UTF8.GetBytes(Pick(random, Bodies)));
            string description = string.Create(
                CultureInfo.InvariantCulture,
                $"seed {seed}: {method} {url} {(body is null ? "" : Convert.ToHexString(body))}"
            );
            (string, string)[] headers = random.Next(8) switch
            {
                0 => [("If-Match", Pick(random, ["\"\"", "\"A:1-x\"", "*", "\"A:1-x\",\"\""]))],
                1 => [("If-None-Match", "\"A:1-x\"")],
                2 => [("Idempotency-Key", Pick(random, ["k", "", new string('k', 200)]))],
                3 when body is not null => [("Content-Type", "application/merge-patch+json")],
                _ => [],
            };
            Answer answer;
            try
            {
                answer = await server.SendAsync(method, url, body, headers);
            }
            catch (Exception failure) when (failure is HttpRequestException or TaskCanceledException)
            {
                throw new InvalidOperationException(description, failure);
            }

            // RavenDB's clients read operations/state only after a 500, so a refused bulk insert gets that status.
            bool isBulkInsert = url.Contains("/bulk_insert", StringComparison.Ordinal);
            Assert.True(
                answer.Status is < 500 or 501 or 503 || (isBulkInsert && answer.Status == 500),
                $"the answer is {answer.Status} {answer.Body} to {description}"
            );
            if (answer.Status >= 400 && answer.Status != 404 && method is not "HEAD")
            {
                Assert.True(
                    answer.Body.StartsWith("{\"Url\":", StringComparison.Ordinal),
                    $"the answer {answer.Status} '{answer.Body}' is not in RavenDB's form, to {description}"
                );
            }
        }

        Assert.Equal(201, (await server.SendAsync("PUT", db + "/docs?id=healthy", "{}")).Status);
        Assert.Equal(200, (await server.SendAsync("GET", db + "/docs?id=healthy")).Status);
    }

    private static T Pick<T>(Random random, T[] from) => from[random.Next(from.Length)];

    private static string PickQuery(Random random)
    {
        var query = new StringBuilder(random.Next(4) == 0 ? "" : "?");
        for (int i = random.Next(4); i > 0 && query.Length > 0; i--)
        {
            query.Append(Pick(random, Names)).Append('=').Append(Pick(random, Values)).Append('&');
        }

        return query.ToString();
    }

    // Makes up to three changes: replaces a byte, truncates the body, or repeats its rest.
    private static byte[] Mutate(Random random, byte[] body)
    {
        for (int i = random.Next(4); i > 0 && body.Length > 0; i--)
        {
            int position = random.Next(body.Length);
            switch (random.Next(4))
            {
                case 0:
                    body[position] = (byte)random.Next(256);
                    break;
                case 1:
                    body = body[..position];
                    break;
                case 2:
                    body = [.. body[..position], .. body[position..], .. body[position..]];
                    break;
                default:
                    break;
            }
        }

        return body;
    }
}
