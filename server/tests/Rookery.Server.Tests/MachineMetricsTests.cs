using System.IO.Compression;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Rookery.Server.Tests.Access;

namespace Rookery.Server.Tests;

/// <summary>
/// GET /metrics/machine, which forwards the answer of the machine's node_exporter, here a listener of the test, and
/// GET /sd/prometheus, by which Prometheus finds the metrics of the node and of its machine.
/// </summary>
public sealed class MachineMetricsTests : IAsyncLifetime
{
    private TcpListener _exporter = null!;
    private SecureServer _node = null!;
    private string _token = null!;

    public async Task InitializeAsync()
    {
        _exporter = Listen();
        _node = new SecureServer { MachineMetrics = new Uri($"http://{_exporter.LocalEndpoint}/metrics?key=hidden") };
        await _node.InitializeAsync();
        _token = await _node.GiveTokenAsync(["metrics"]);
    }

    public async Task DisposeAsync()
    {
        _exporter.Dispose();
        await _node.DisposeAsync();
    }

    [Theory]
    [InlineData("identity")]
    [InlineData("gzip;q=0, identity")]
    public async Task The_exporters_answer_is_forwarded_unchanged(string acceptedCodings)
    {
        var answered = AnswerAsync(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 10\r\n\r\nnode_up 1\n"u8.ToArray()
        );
        using var http = _node.NewClient();
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(_node.Address, "/metrics/machine"));
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + _token);
        request.Headers.TryAddWithoutValidation("Accept-Encoding", acceptedCodings);
        using var answer = await http.SendAsync(request);

        Assert.Equal("node_up 1\n", await answer.Content.ReadAsStringAsync());
        Assert.Equal("text/plain; version=0.0.4; charset=utf-8", answer.Content.Headers.ContentType?.ToString());
        // The exporter must not get the client's token.
        string head = await answered;
        Assert.StartsWith("GET /metrics?key=hidden HTTP/1.1\r\n", head, StringComparison.Ordinal);
        Assert.DoesNotContain("Bearer", head, StringComparison.Ordinal);
        Assert.DoesNotContain("gzip", head, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_that_accepts_gzip_gets_the_exporters_gzip()
    {
        using var compressed = new MemoryStream();
        using (var gzip = new GZipStream(compressed, CompressionMode.Compress, leaveOpen: true))
        {
            gzip.Write("node_up 1\n"u8);
        }

        var answered = AnswerAsync([
            .. Encoding.ASCII.GetBytes(
                $"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {compressed.Length}\r\n\r\n"
            ),
            .. compressed.ToArray(),
        ]);
        using var http = _node.NewClient();
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(_node.Address, "/metrics/machine"));
        request.Headers.TryAddWithoutValidation("Authorization", "Bearer " + _token);
        request.Headers.TryAddWithoutValidation("Accept-Encoding", "gzip");
        using var answer = await http.SendAsync(request);

        Assert.Equal(compressed.ToArray(), await answer.Content.ReadAsByteArrayAsync());
        Assert.Equal(["gzip"], answer.Content.Headers.ContentEncoding);
        Assert.Contains("Accept-Encoding: gzip\r\n", await answered, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "answered with 404")]
    [InlineData("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", "answered with 302")]
    [InlineData("HTTP/1.1 200 OK\r\nContent-Length: 4194305\r\n\r\n", "answered with more than 4 MiB")]
    [InlineData("SSH-2.0-OpenSSH\r\n\r\n", "gave no answer that can be read")]
    public async Task An_invalid_answer_of_the_exporter_is_reported(string exporterAnswer, string sentence)
    {
        var answered = AnswerAsync(Encoding.ASCII.GetBytes(exporterAnswer));
        (await _node.SendAsync("GET", "/metrics/machine", _token)).IsRefusal(502, sentence);
        await answered;
    }

    [Fact]
    public async Task A_missing_exporter_is_reported_without_the_query_of_its_URL()
    {
        _exporter.Stop();
        (await _node.SendAsync("GET", "/metrics/machine", _token)).IsRefusal(
            502,
            "/metrics does not answer. `systemctl status prometheus-node-exporter` on this machine shows why"
        );
    }

    [Fact]
    public async Task A_silent_exporter_times_out_no_later_than_Prometheus()
    {
        var answering = _node.SendAsync("GET", "/metrics/machine", _token);
        using var connection = await _exporter.AcceptTcpClientAsync();
        _node.Time.Advance(TimeSpan.FromSeconds(11));
        (await answering).IsRefusal(502, "did not answer within 10 seconds");
    }

    [Fact]
    public async Task A_scrape_while_the_node_stops_is_refused_without_an_error_in_the_log()
    {
        var lifetime = _node.App.Services.GetRequiredService<IHostApplicationLifetime>();
        var answering = _node.SendAsync("GET", "/metrics/machine", _token);
        using var connection = await _exporter.AcceptTcpClientAsync();
        lifetime.StopApplication();
        (await answering).IsRefusal(503, "The node is stopping.");
        (await _node.SendAsync("GET", "/metrics/machine", _token)).IsRefusal(503, "The node is stopping.");
        Assert.True(_node.Log.Lines.IsEmpty, string.Join("\n", _node.Log.Lines));
    }

    [Fact]
    public async Task Discovery_lists_both_targets_under_the_requested_host()
    {
        using var answer = JsonDocument.Parse((await _node.SendAsync("GET", "/sd/prometheus", _token)).Body);
        var groups = answer.RootElement.EnumerateArray().ToArray();
        Assert.Equal(
            ["/metrics", "/metrics/machine"],
            groups.Select(group => group.GetProperty("labels").GetProperty("__metrics_path__").GetString())
        );
        Assert.Equal(
            ["rookery", "node"],
            groups.Select(group => group.GetProperty("labels").GetProperty("job").GetString())
        );
        Assert.All(
            groups,
            group =>
            {
                Assert.Equal(
                    [$"127.0.0.1:{_node.Address.Port}"],
                    group.GetProperty("targets").EnumerateArray().Select(target => target.GetString())
                );
                Assert.Equal("https", group.GetProperty("labels").GetProperty("__scheme__").GetString());
                Assert.Equal("home", group.GetProperty("labels").GetProperty("cluster").GetString());
            }
        );
    }

    private static TcpListener Listen()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return listener;
    }

    /// <summary>Answers the next request to the exporter and returns its head.</summary>
    private async Task<string> AnswerAsync(byte[] answer)
    {
        using var connection = await _exporter.AcceptTcpClientAsync();
        using var reader = new StreamReader(connection.GetStream());
        var head = new StringBuilder();
        while (await reader.ReadLineAsync() is { Length: > 0 } line)
        {
            head.Append(line).Append("\r\n");
        }

        await connection.GetStream().WriteAsync(answer);
        return head.ToString();
    }
}
