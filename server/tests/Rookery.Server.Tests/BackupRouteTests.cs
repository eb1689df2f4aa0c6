using System.Net.Sockets;
using System.Text;
using Rookery.Documents.Backups;
using Rookery.Documents.Consensus;
using Rookery.Platform;
using Rookery.Server.Tests.Raven;
using Rookery.Server.Transfer;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

/// <summary>Backups over HTTP: one at a time, and none for a client that does not read.</summary>
public sealed class BackupRouteTests : IAsyncLifetime
{
    private readonly SimulatedTimeProvider _time = new();
    private readonly RunningServer _server;

    public BackupRouteTests() => _server = new RunningServer { Time = _time };

    public Task InitializeAsync() => _server.InitializeAsync();

    public Task DisposeAsync() => _server.DisposeAsync();

    [Fact]
    public async Task A_client_that_reads_nothing_is_disconnected_and_the_next_backup_begins()
    {
        string db = await _server.CreateDatabaseAsync();
        var random = new Random(1);

        // More than the connection buffers, so the backup waits for its reader.
        byte[] incompressible = new byte[5 << 20];
        for (int i = 0; i < 3; i++)
        {
            random.NextBytes(incompressible);
            Assert.Equal(
                201,
                (
                    await _server.SendAsync(
                        "PUT",
                        $"{db}/docs?id={i}",
                        $$"""{"t":"{{Convert.ToBase64String(incompressible)}}"}"""
                    )
                ).Status
            );
        }

        using var client = new TcpClient { ReceiveBufferSize = 32 << 10 };
        await client.ConnectAsync(_server.Address.Host, _server.Address.Port);
        await client
            .GetStream()
            .WriteAsync(
                Encoding.ASCII.GetBytes($"GET /admin/node/backup HTTP/1.1\r\nHost: {_server.Address.Authority}\r\n\r\n")
            );
        // The client reads only the beginning of the answer. Its backup is in progress, so no other can begin.
        await client.GetStream().ReadExactlyAsync(new byte[64]);
        await Assert.ThrowsAsync<BackupException>(_server.Node.BeginBackupAsync);
        while (_server.Log.Lines.IsEmpty)
        {
            // A second more than a client may pause.
            _time.Advance(TimeSpan.FromSeconds(61));
            await Task.Yield();
        }

        Assert.Contains("read nothing for 60 s", Assert.Single(_server.Log.Lines), StringComparison.Ordinal);
        // Hangs unless a backup can begin again.
        while (await TryBeginAsync() is not true)
        {
            await Task.Yield();
        }
    }

    [Fact]
    public async Task A_backup_waits_until_the_backup_of_a_disconnected_client_has_ended()
    {
        var slot = new BackupSlot(_time);
        using var killed = new CancellationTokenSource();
        var first = await slot.TryEnterAsync(killed.Token);
        await killed.CancelAsync();
        var next = slot.TryEnterAsync(CancellationToken.None);
        _time.Advance(BackupSlot.MaxWait / 2);
        Assert.False(next.IsCompleted);
        first!.Dispose();
        using var turn = await next;
        Assert.NotNull(turn);
    }

    /// <summary>After a longer wait, the client would give up after two minutes without the reason.</summary>
    [Fact]
    public async Task A_backup_is_refused_if_the_backup_of_a_disconnected_client_does_not_end()
    {
        var slot = new BackupSlot(_time);
        using var killed = new CancellationTokenSource();
        using var first = await slot.TryEnterAsync(killed.Token);
        await killed.CancelAsync();
        var next = slot.TryEnterAsync(CancellationToken.None);
        _time.Advance(BackupSlot.MaxWait);
        await Assert.ThrowsAsync<TimeoutException>(() => next.WaitAsync(TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public async Task A_backup_is_refused_while_the_client_of_another_backup_is_connected()
    {
        var slot = new BackupSlot(_time);
        using var leaving = new CancellationTokenSource();
        var first = await slot.TryEnterAsync(leaving.Token);
        var refused = slot.TryEnterAsync(CancellationToken.None);
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.Null(await refused);

        // The server notices that the client has left while the next request waits.
        var next = slot.TryEnterAsync(CancellationToken.None);
        await leaving.CancelAsync();
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.False(next.IsCompleted);
        first!.Dispose();
        using var turn = await next;
        Assert.NotNull(turn);
    }

    /// <summary>
    /// The member may lack writes that others acknowledged while it was off, and its backup would look complete.
    /// </summary>
    [Fact]
    public async Task A_member_without_a_read_barrier_refuses_a_backup()
    {
        var member = new RunningServer
        {
            WrapConsensus = static alone => new OneOfThree(alone, static _ => Task.CompletedTask)
            {
                WriteRejection = new Rejection(RejectionKind.NoLeader, "There is no leader."),
            },
        };
        await member.InitializeAsync();
        try
        {
            var answer = await member.SendAsync("GET", "/admin/node/backup");
            Assert.Equal(503, answer.Status);
            Assert.Contains("nothing was backed up", answer.Body, StringComparison.Ordinal);
        }
        finally
        {
            await member.DisposeAsync();
        }
    }

    /// <summary>Formerly, it was answered like another backup in progress: 409.</summary>
    [Theory]
    [InlineData(Errno.NoSpace, 507, "Free space")]
    [InlineData(Errno.InputOutput, 500, "rookery doctor")]
    public async Task A_disk_that_fails_is_named_with_what_to_do(Errno error, int status, string advice)
    {
        _server.Disk.Inject(
            new DiskFault(AtCall: 1, error) { Calls = DiskCalls.CreateDirectory, PathContains = "checkpoint" }
        );
        var failed = await _server.SendAsync("GET", "/admin/node/backup");
        failed.IsRefusal(status, "checkpoint");
        failed.IsRefusal(status, advice);
        Assert.True(await TryBeginAsync());
    }

    // Begins a backup and ends it; false if another is in progress.
    private async Task<bool> TryBeginAsync()
    {
        try
        {
            (await _server.Node.BeginBackupAsync()).Dispose();
            return true;
        }
        catch (BackupException)
        {
            return false;
        }
    }
}
