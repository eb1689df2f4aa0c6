using System.Buffers;
using System.Globalization;
using System.IO.Pipelines;
using System.Text;
using Rookery.Server.FastPath;
using Rookery.Server.Tests.Raven;

namespace Rookery.Server.Tests.FastPath;

/// <summary>
/// The fast path answers as the full pipeline does, and leaves requests that it does not know to the full pipeline.
/// With an unknown header, the tests send a request through the full pipeline.
/// </summary>
public sealed class FastPathTests : IAsyncLifetime
{
    private const string Host = "Host: localhost\r\n";
    private const string UnknownHeader = "X-Other: 1\r\n";

    private readonly RunningServer _server = new();
    private string _database = "";

    private string LastRequest => $"GET {_database}/docs?id=users/1 HTTP/1.1\r\n{Host}Connection: close\r\n\r\n";

    private long FastPathAnswers => _server.Context.Metrics.FastPathRequests;

    public async Task InitializeAsync()
    {
        await _server.InitializeAsync();
        _database = await _server.CreateDatabaseAsync();
        await _server.SendAsync("PUT", _database + "/docs?id=users/1", """{"name":"ann"}""");

        // The first request, by the full pipeline, loads what the fast path checks.
        await _server.SendAsync("GET", _database + "/docs?id=users/1", body: (string?)null, ("X-Other", "1"));
    }

    public Task DisposeAsync() => _server.DisposeAsync();

    // RFC 9110, section 8.6: digits only. A proxy that reads such a length differently would mix up requests.
    [Theory]
    [InlineData("+2", "")]
    [InlineData("+2", UnknownHeader)]
    [InlineData("-0", "")]
    [InlineData("-0", UnknownHeader)]
    [InlineData("2,2", "")]
    [InlineData("2 2", UnknownHeader)]
    [InlineData("0x2", UnknownHeader)]
    [InlineData("123456789012345678901234567890", UnknownHeader)]
    [InlineData("\u00b2", UnknownHeader)]
    public async Task A_length_of_a_body_that_is_not_written_in_digits_is_refused(string length, string headers)
    {
        using var connection = await RawConnection.OpenAsync(_server);
        await connection.SendAsync(
            $"PUT {_database}/docs?id=users/9 HTTP/1.1\r\n{Host}{headers}Content-Length: {length}\r\n\r\n{{}}"
        );
        var response = await connection.ReadAsync();
        Assert.Equal(400, response?.Code);
        Assert.Null(await connection.ReadAsync());
        Assert.Equal(404, (await _server.SendAsync("GET", _database + "/docs?id=users/9")).Status);
    }

    [Theory]
    [InlineData("")]
    [InlineData(UnknownHeader)]
    public async Task A_length_of_a_body_may_begin_with_zeros(string headers)
    {
        using var connection = await RawConnection.OpenAsync(_server);
        await connection.SendAsync(
            $"PUT {_database}/docs?id=users/9 HTTP/1.1\r\n{Host}{headers}Content-Length: \t 0002 \r\n\r\n{{}}"
        );
        Assert.Equal(201, (await connection.ReadAsync())?.Code);
    }

    [Theory]
    [InlineData("GET", "/docs?id=users/1", "")]
    [InlineData("GET", "/docs?id=USERS/1", "")]
    [InlineData("GET", "/docs?id=users%2F1", "")]
    [InlineData("GET", "/docs?id=users%2f1", "")]
    [InlineData("GET", "/docs?id=no+such", "")]
    [InlineData("GET", "/docs?&id=users%2F1", "")]
    [InlineData("GET", "/docs?id=users/1", "Client-Configuration-Etag: 0\r\nSec-Fetch-Mode: cors\r\n")]
    [InlineData("GET", "/docs?id=users/1", "Known-Raft-Index: 5\r\nAccept-Language: *\r\n")]
    [InlineData("GET", "/docs?id=users/1", "Accept: */*\r\nUser-Agent: x\r\nConnection: Keep-Alive\r\n")]
    [InlineData("GET", "/docs?id=users/1", "If-None-Match: \"other\"\r\n")]
    [InlineData("GET", "/docs?id=users/1", "If-None-Match: TAG\r\n")]
    [InlineData("GET", "/docs?id=no", "If-None-Match: TAG\r\n")]
    [InlineData("GET", "/docs?id=users/1", "Topology-Etag: \"7\"\r\n")]
    [InlineData("PUT", "/docs?id=users/2", "Content-Length: 10\r\n", "{\"a\": \"b\"}")]
    [InlineData(
        "POST",
        "/bulk_docs",
        "Content-Length: #\r\n",
        """{"Commands":[{"Type":"PUT","Id":"n/1","Document":{"a":1}}]}"""
    )]
    [InlineData(
        "POST",
        "/bulk_docs?",
        "Content-Length: #\r\n",
        """{"Commands":[{"Type":"PUT","Id":"n/","Document":{}},{"Type":"DELETE","Id":"n/2"}]}"""
    )]
    [InlineData(
        "POST",
        "/bulk_docs",
        "Content-Length: #\r\nContent-Type: application/json\r\n",
        """{"Commands":[{"Type":"PUT","Id":"users/1","ChangeVector":"A:9-x","Document":{}}]}"""
    )]
    [InlineData("PUT", "/docs?id=users/2", "content-length: 2\r\nContent-Type: text/html\r\n", "{}")]
    public async Task A_simple_request_is_answered_as_by_the_full_pipeline(
        string method,
        string target,
        string headers,
        string body = ""
    )
    {
        headers = await CompleteAsync(headers, body);
        long before = FastPathAnswers;
        var fast = await AnswerAsync(method, target, Host + headers, body);
        long answered = FastPathAnswers - before;
        var full = await AnswerAsync(method, target, Host + headers + UnknownHeader, body);
        Assert.Equal(WithoutVersion(full, method), WithoutVersion(fast, method));
        Assert.Equal(1, answered);
        Assert.Equal(before + 1, FastPathAnswers);
    }

    // A number after '@' repeats the last header that many times.
    [Theory]
    [InlineData("GET", "/docs?id=users/1&id=users/2", Host)]
    [InlineData("GET", "/docs?id=users/1&metadataOnly=true", Host)]
    [InlineData("GET", "/docs?id=", Host)]
    [InlineData("GET", "/docs?ID=users/1", Host)]
    [InlineData("GET", "/docs", Host)]
    [InlineData("GET", "/docs/?id=users/1", Host)]
    [InlineData("GET", "/docs?id=users%zz", Host)]
    [InlineData("GET", "/docs?id=%C3%A4", Host)]
    [InlineData("GET", "/docs?id=%00", Host)]
    [InlineData("GET", "/docs?id=users/", Host)]
    [InlineData("GET", "/docs?id=users/1", "Host: evil.example\r\n")]
    [InlineData("GET", "/docs?id=users/1", "Host: localhost\r\nHost: localhost\r\n")]
    [InlineData("GET", "/docs?id=users/1", "")]
    [InlineData("GET", "/docs?id=users/1", "Host:\r\nHost: localhost\r\n")]
    [InlineData("GET", "/docs?id=users/1", "Host: localhost:abc\r\n")]
    [InlineData("GET", "/docs?id=users/1", "Host: localhost:\r\n")]
    [InlineData("GET", "/docs?id=users/1", "Host: :80\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Accept: a\r\n@33")]
    [InlineData("GET", "/docs?id=users/1", Host + "Accept: a\r\n@101")]
    [InlineData("GET", "/docs?id=users/1", Host + "Origin: http://evil.example\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Sec-Fetch-Site: cross-site\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Sec-Fetch-Mode: cors\r\nReferer: http://evil.example\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Authorization: Bearer rookery_x\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Authorization: Basic eDp5\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Cookie: a=b\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "If-None-Match: *\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "If-None-Match: W/\"a\", TAG\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "If-None-Match: \"a\"\r\nIf-None-Match: TAG\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "If-Match: TAG\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Topology-Etag: -7\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Connection: close\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "Content-Length: 0\r\n")]
    [InlineData("GET", "/docs?id=users/1", Host + "User-Agent: \u00ff\r\n")]
    [InlineData("HEAD", "/docs?id=users/1", Host)]
    [InlineData("PUT", "/docs?id=users/1", Host + "Content-Length: 0\r\n")]
    [InlineData("PUT", "/docs?id=users/1", Host + "Content-Length: 2\r\nContent-Length: 2\r\n", "{}")]
    [InlineData("PUT", "/docs?id=users/1", Host + "Content-Length: 2\r\nIf-Match: \"A:1-x\"\r\n", "{}")]
    [InlineData("PUT", "/docs?id=users/1", Host + "Content-Length: 2\r\nIf-None-Match: TAG\r\n", "{}")]
    [InlineData("PUT", "/docs?id=users/1", Host + "Content-Length: 2\r\nIdempotency-Key: k\r\n", "{}")]
    [InlineData("PUT", "/docs?id=users/1", Host + "Content-Length: 2\r\nContent-Encoding: gzip\r\n", "{}")]
    [InlineData("PUT", "/docs?id=users/1", Host + "Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n")]
    [InlineData("PUT", "/docs?id=users/1", Host + "Content-Length: 2\r\n", "[]")]
    [InlineData("PUT", "/docs?id=users/", Host + "Content-Length: 2\r\n", "{}")]
    [InlineData("PUT", "/docs?id=", Host + "Content-Length: 2\r\n", "{}")]
    [InlineData("DELETE", "/docs?id=no", Host)]
    [InlineData("POST", "/bulk_docs", Host + "Content-Length: #\r\n", """{"Commands":[]}""")]
    [InlineData("POST", "/bulk_docs", Host + "Content-Length: #\r\n", """{"Commands":[{"Type":"PUT","Id":"n/1"}]}""")]
    [InlineData(
        "POST",
        "/bulk_docs",
        Host + "Content-Length: #\r\n",
        """{"Commands":[{"Type":"PATCH","Id":"users/1","Patch":{"Script":"this.name = 'ann'"}}]}"""
    )]
    [InlineData(
        "POST",
        "/bulk_docs",
        Host + "Content-Length: #\r\n",
        """{"Commands":[{"Type":"DELETE","Id":"no"}],"TransactionMode":"ClusterWide"}"""
    )]
    [InlineData(
        "POST",
        "/bulk_docs?waitForIndexesTimeout=1",
        Host + "Content-Length: #\r\n",
        """{"Commands":[{"Type":"DELETE","Id":"no"}]}"""
    )]
    [InlineData(
        "POST",
        "/bulk_docs",
        Host + "Idempotency-Key: k\r\nContent-Length: #\r\n",
        """{"Commands":[{"Type":"DELETE","Id":"no"}]}"""
    )]
    [InlineData(
        "POST",
        "/bulk_docs",
        Host + "Content-Type: Multipart/mixed\r\nContent-Length: #\r\n",
        """{"Commands":[{"Type":"DELETE","Id":"no"}]}"""
    )]
    public async Task A_request_that_is_not_simple_is_left_to_the_full_pipeline(
        string method,
        string target,
        string headers,
        string body = ""
    )
    {
        if (headers.Split('@') is [var once, var times])
        {
            int end = once.TrimEnd().LastIndexOf('\n') + 1;
            headers =
                once[..end]
                + string.Concat(Enumerable.Repeat(once[end..], int.Parse(times, CultureInfo.InvariantCulture)));
        }

        headers = await CompleteAsync(headers, body);
        long before = FastPathAnswers;
        var answer = await AnswerAsync(method, target, headers, body);
        var full = await AnswerAsync(method, target, headers + UnknownHeader, body);
        Assert.Equal(WithoutVersion(full, method), WithoutVersion(answer, method));
        Assert.Equal(before, FastPathAnswers);
    }

    /// <summary>The results of many operations need memory that only the full pipeline reserves.</summary>
    [Fact]
    public async Task A_batch_of_many_operations_is_left_to_the_full_pipeline()
    {
        string operation = """{"Type":"DELETE","Id":"no"}""";
        string body = $$"""{"Commands":[{{string.Join(',', Enumerable.Repeat(operation, 300))}}]}""";
        long before = FastPathAnswers;
        var answer = await AnswerAsync("POST", "/bulk_docs", $"{Host}Content-Length: {body.Length}\r\n", body);
        Assert.Equal((201, before), (answer.Code, FastPathAnswers));
    }

    [Theory]
    [InlineData("GET /databases/none/docs?id=users/1 HTTP/1.1\r\n" + Host, "HTTP/1.1 503 Service Unavailable")]
    [InlineData("GET /databases/../docs?id=users/1 HTTP/1.1\r\n" + Host, "HTTP/1.1 501 Not Implemented")]
    [InlineData("GET  /databases/db1/docs?id=users/1 HTTP/1.1\r\n" + Host, "HTTP/1.1 400 Bad Request")]
    [InlineData("GET /databases/db1/docs?id=users/1 HTTP/1.2\r\n" + Host, "HTTP/1.1 505 HTTP Version Not Supported")]
    [InlineData("GET /databases/db1/docs?id=users/1 HTTP/1.1\r\nHost : x\r\n", "HTTP/1.1 400 Bad Request")]
    [InlineData("GET http://localhost/databases/db1/docs?id=users/1 HTTP/1.1\r\n" + Host, "HTTP/1.1 200 OK")]
    public async Task A_strange_request_line_is_left_to_the_full_pipeline(string head, string status)
    {
        long before = FastPathAnswers;
        using var connection = await RawConnection.OpenAsync(_server);
        await connection.SendAsync(head + "\r\n");
        Assert.Equal(status, (await connection.ReadAsync())!.Status);
        Assert.Equal(before, FastPathAnswers);
    }

    /// <summary>The bytes of each body, which its route does not read, look like a request.</summary>
    [Theory]
    [InlineData("POST", "/bulk_docs", "Content-Encoding: br\r\n", 415)]
    [InlineData("POST", "/no/such/route", "", 501)]
    [InlineData("GET", "/docs?id=users/1", "", 200)]
    [InlineData("GET", "/docs?id=no", "", 404)]
    [InlineData("PUT", "/docs?id=users/1", "", 400)]
    [InlineData("PUT", "/docs?id=users/1", "If-Match: x\r\n", 400)]
    [InlineData("POST", "/queries", "", 400)]
    [InlineData("DELETE", "/docs?id=no", "", 204)]
    public async Task A_body_is_never_taken_for_requests(string method, string target, string headers, int status)
    {
        string inner = $"GET {_database}/docs?id=users/1 HTTP/1.1\r\n{Host}\r\n";
        foreach (bool isChunked in (bool[])[false, true])
        {
            string body = isChunked ? $"{inner.Length:x}\r\n{inner}\r\n0\r\n\r\n" : inner;
            string length = isChunked ? "Transfer-Encoding: chunked\r\n" : $"Content-Length: {inner.Length}\r\n";
            using var connection = await RawConnection.OpenAsync(_server);
            await connection.SendAsync(
                $"{method} {_database}{target} HTTP/1.1\r\n{Host}{headers}{length}\r\n{body}{inner}{LastRequest}"
            );
            var answers = await connection.ReadAllAsync();
            Assert.StartsWith($"HTTP/1.1 {status} ", answers[0].Status, StringComparison.Ordinal);
            Assert.Equal(["HTTP/1.1 200 OK", "HTTP/1.1 200 OK"], answers[1..].Select(static answer => answer.Status));
            Assert.Contains("ann", answers[1].Body, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Pipelined_requests_are_answered_in_order_by_both_paths()
    {
        const int rounds = 200;
        var requests = new StringBuilder();
        for (int round = 0; round < rounds; round++)
        {
            string body = $$"""{"n":{{round}},"text":"{{new string('x', 2000)}}"}""";
            string other = round % 3 == 0 ? UnknownHeader : "";
            string another = round % 7 == 0 ? UnknownHeader : "";
            requests.Append(
                $"PUT {_database}/docs?id=n/{round % 5} HTTP/1.1\r\n{Host}{other}"
                    + $"Content-Length: {body.Length}\r\n\r\n{body}"
            );
            requests.Append($"GET {_database}/docs?id=n/{round % 5} HTTP/1.1\r\n{Host}{another}\r\n");
        }

        long before = FastPathAnswers;
        using var connection = await RawConnection.OpenAsync(_server);
        var sending = connection.SendAsync(requests + LastRequest);
        var answers = await connection.ReadAllAsync();
        await sending;
        Assert.Equal((2 * rounds) + 1, answers.Count);
        for (int round = 0; round < rounds; round++)
        {
            Assert.Equal("HTTP/1.1 201 Created", answers[2 * round].Status);
            Assert.Contains($"\"n\":{round},", answers[(2 * round) + 1].Body, StringComparison.Ordinal);
        }

        // Of 400 requests, many have no unknown header; how many of those the fast path answers depends on the network.
        Assert.True(FastPathAnswers > before + (rounds / 2), "the fast path answers many of the requests");
    }

    [Fact]
    public async Task A_request_may_arrive_byte_by_byte()
    {
        using var connection = await RawConnection.OpenAsync(_server);
        foreach (char part in $"PUT {_database}/docs?id=slow HTTP/1.1\r\n{Host}Content-Length: 7\r\n\r\n{{\"a\":1}}")
        {
            await connection.SendAsync(part.ToString());
        }

        Assert.Equal("HTTP/1.1 201 Created", (await connection.ReadAsync())!.Status);
        await connection.SendAsync($"GET {_database}/docs?id=slow HTTP/1.1\r\n{Host}\r\n");
        Assert.Contains("\"a\":1", (await connection.ReadAsync())!.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_body_of_several_segments_is_stored()
    {
        string text = new('x', 12_000);
        string body = $$"""{"text":"{{text}}"}""";
        using var connection = await RawConnection.OpenAsync(_server);
        long before = FastPathAnswers;
        do
        {
            // The fast path answers only if the whole request has arrived at once, which depends on the network.
            await connection.SendAsync(
                $"PUT {_database}/docs?id=long HTTP/1.1\r\n{Host}Content-Length: {body.Length}\r\n\r\n{body}"
            );
            Assert.Equal(201, (await connection.ReadAsync())!.Code);
        } while (FastPathAnswers == before);
        await connection.SendAsync($"GET {_database}/docs?id=long HTTP/1.1\r\n{Host}\r\n");
        Assert.Contains(text, (await connection.ReadAsync())!.Body, StringComparison.Ordinal);
    }

    /// <summary>Kestrel then closes the connection, so the last answers may be missing.</summary>
    [Fact]
    public async Task A_client_that_ends_its_sending_side_gets_complete_answers_in_order()
    {
        const int Requests = 50;
        using var connection = await RawConnection.OpenAsync(_server);
        for (int i = 0; i < Requests; i++)
        {
            await connection.SendAsync(
                $"PUT {_database}/docs?id=n/{i} HTTP/1.1\r\n{Host}Content-Length: 2\r\n\r\n{{}}"
            );
            Assert.Equal(201, (await connection.ReadAsync())!.Code);
        }

        await connection.SendAsync(
            string.Concat(
                Enumerable.Range(0, Requests).Select(i => $"GET {_database}/docs?id=n/{i} HTTP/1.1\r\n{Host}\r\n")
            )
        );
        connection.EndSending();
        var answers = await connection.ReadAllAsync();
        for (int i = 0; i < answers.Count; i++)
        {
            Assert.Contains($"\"@id\":\"n/{i}\"", answers[i].Body, StringComparison.Ordinal);
        }
    }

    /// <summary>An exception here would end the connection without an answer.</summary>
    [Fact]
    public async Task A_read_of_a_deleted_database_is_left_to_the_full_pipeline()
    {
        Assert.True(_server.Node.Databases.TryGet(_database.Split('/')[^1], out var database));
        string name = database.Name;
        await _server.SendAsync("DELETE", "/admin/databases", $$"""{"DatabaseNames":["{{name}}"],"HardDelete":true}""");
        var request = new SimpleRequest();
        byte[] bytes = Encoding.ASCII.GetBytes($"GET {_database}/docs?id=users/1 HTTP/1.1\r\n{Host}\r\n");
        Assert.True(request.TryParse(new ReadOnlySequence<byte>(bytes), out _));
        var pipe = PipeWriter.Create(new MemoryStream());
        var get = new GetHandler(_server.Context, new DateHeader(TimeProvider.System));
        Assert.Equal(0, get.TryWrite(request, database, pipe, mayReadDisk: true, out _, out _));
        Assert.Equal(0, pipe.UnflushedBytes);
    }

    [Fact]
    public async Task A_node_that_stops_refuses_simple_requests()
    {
        using var connection = await RawConnection.OpenAsync(_server);
        string request = $"GET {_database}/docs?id=users/1 HTTP/1.1\r\n{Host}\r\n";
        await connection.SendAsync(request);
        Assert.Equal("HTTP/1.1 200 OK", (await connection.ReadAsync())!.Status);
        _server.Context.Readiness.MarkStopping();
        await connection.SendAsync(request);
        Assert.Equal("HTTP/1.1 503 Service Unavailable", (await connection.ReadAsync())!.Status);
    }

    /// <summary>Replaces TAG with the ETag of users/1, and # with the length of the body.</summary>
    private async Task<string> CompleteAsync(string headers, string body) =>
        headers
            .Replace("TAG", await ReadTagAsync(), StringComparison.Ordinal)
            .Replace("#", body.Length.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);

    private async Task<string> ReadTagAsync() => (await _server.SendAsync("GET", _database + "/docs?id=users/1")).Tag!;

    // Sends a request over a connection of its own.
    private async Task<RawResponse> AnswerAsync(string method, string target, string headers, string body)
    {
        using var connection = await RawConnection.OpenAsync(_server);
        await connection.SendAsync($"{method} {_database}{target} HTTP/1.1\r\n{headers}\r\n{body}");
        return (await connection.ReadAsync())!;
    }

    // Each write gives its document another change vector, and some an id that the node chooses, so the bodies of their
    // answers differ.
    private static RawResponse WithoutVersion(RawResponse response, string method) =>
        method is "GET" or "HEAD" || !response.Status.StartsWith("HTTP/1.1 2", StringComparison.Ordinal)
            ? response
            : response with
            {
                Body = "",
            };
}
