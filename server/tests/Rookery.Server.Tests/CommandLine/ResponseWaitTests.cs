using System.Net;
using System.Net.Sockets;
using System.Text;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Simulation;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>Requests to a node that accepts connections and sends nothing.</summary>
public sealed class ResponseWaitTests : IDisposable
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly NodeConnection _connection;
    private readonly NodeClient _client;

    public ResponseWaitTests()
    {
        _listener.Start();
        _connection = new NodeConnection(new Uri($"http://{_listener.LocalEndpoint}"), Token: null, Authorities: null);
        _client = new NodeClient(_connection, time: _time);
    }

    [Theory]
    [InlineData("GET")]
    [InlineData("POST")]
    [InlineData("PUT")]
    [InlineData("PATCH")]
    [InlineData("DELETE")]
    public async Task A_request_to_a_node_that_hangs_ends_with_its_address(string method)
    {
        var asking = _client.GetJsonAsync(new HttpMethod(method), "/databases/Shop/queries");
        using var silent = await _listener.AcceptTcpClientAsync();

        // The node answers no other request either.
        _listener.Stop();
        var refused = await Assert.ThrowsAsync<AdminException>(() => PassAsync(asking));
        Assert.Contains($"{_connection.Address} accepted the request", refused.Message, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Failure, refused.Code);
    }

    /// <summary>Formerly, the first Ctrl+C in a script of the shell had no effect until the next result.</summary>
    [Fact]
    public async Task A_streamed_query_ends_between_two_results_when_it_is_cancelled()
    {
        using var interrupted = new CancellationTokenSource();
        var asked = new AskedQuery("/databases/Shop", "from Birds", []);
        var streaming = Task.Run(() => AnsweredQuery.StreamAsync(_client, asked, interrupted.Token));
        using var node = await _listener.AcceptTcpClientAsync();
        var stream = node.GetStream();
        _ = await stream.ReadAsync(new byte[4096]);
        await stream.WriteAsync(
            "HTTP/1.1 200 OK\r\nRaven-Server-Version: 7.2.0.0\r\nTransfer-Encoding: chunked\r\n\r\n"u8.ToArray()
        );
        await interrupted.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => streaming.WaitAsync(TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public async Task Long_work_is_cancelled_when_its_caller_gives_up()
    {
        using var caller = new CancellationTokenSource();
        CancellationToken ofWork = default;
        var working = ResponseWait.BoundWhileAnsweringAsync(
            _connection.Address,
            _time,
            ends =>
            {
                ofWork = ends;
                return new TaskCompletionSource<int>().Task;
            },
            static _ => Task.FromResult(true),
            caller.Token
        );
        await caller.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => working);
        Assert.True(ofWork.IsCancellationRequested, "the work continues without its caller");
    }

    [Fact]
    public async Task Long_work_is_awaited_for_an_hour_while_the_node_answers_other_requests()
    {
        int probes = 0;
        var working = ResponseWait.BoundWhileAnsweringAsync(
            _connection.Address,
            _time,
            static ends => new TaskCompletionSource<int>().Task.WaitAsync(ends),
            _ =>
            {
                probes++;
                return Task.FromResult(true);
            },
            CancellationToken.None
        );
        var refused = await Assert.ThrowsAsync<AdminException>(() => PassAsync(working));
        Assert.Contains("has sent nothing for 1 h", refused.Message, StringComparison.Ordinal);
        Assert.Equal(29, probes);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_command_ends_if_the_body_of_an_answer_stops_arriving(bool isStream)
    {
        var asking = _client.SendAsync(HttpMethod.Post, "/databases/Shop/queries");
        using var node = await _listener.AcceptTcpClientAsync();
        await node.GetStream().WriteAsync(Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"));
        using var answer = await asking;
        _listener.Stop();
        var reading = isStream ? ReadAllAsync(answer) : _client.ReadBodyAsync(answer);
        var refused = await Assert.ThrowsAsync<AdminException>(() => PassAsync(reading));
        Assert.Contains("nothing for 120 s", refused.Message, StringComparison.Ordinal);
    }

    public void Dispose()
    {
        _client.Dispose();
        _listener.Dispose();
    }

    private async Task<byte[]> ReadAllAsync(HttpResponseMessage answer)
    {
        await using var body = await _client.OpenBodyAsync(answer, CancellationToken.None);
        using var read = new MemoryStream();
        await body.CopyToAsync(read);
        return read.ToArray();
    }

    /// <summary>Lets the time pass until a task ends.</summary>
    private async Task PassAsync(Task task)
    {
        for (int steps = 0; !task.IsCompleted; steps++)
        {
            Assert.True(steps < 20_000, "the task never ends");
            _time.Advance(TimeSpan.FromSeconds(1));
            await Task.Delay(2);
        }

        await task;
    }
}
