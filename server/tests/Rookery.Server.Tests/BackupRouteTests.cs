using System.Net.Sockets;
using System.Text;
using Rookery.Documents;
using Rookery.Server.Tests.Raven;
using Rookery.Simulation;

namespace Rookery.Server.Tests;

public sealed class BackupRouteTests : IAsyncLifetime
{
    private readonly SimulatedTimeProvider time = new();
    private readonly RunningServer server;

    public BackupRouteTests() => server = new RunningServer { Time = time };

    public Task InitializeAsync() => server.InitializeAsync();

    public Task DisposeAsync() => server.DisposeAsync();

    [Fact]
    public async Task A_client_that_takes_nothing_is_cut_off_and_the_next_backup_begins()
    {
        string db = await server.CreateDatabaseAsync();
        var random = new Random(1);
        byte[] incompressible = new byte[5 << 20];
        for (int i = 0; i < 3; i++)
        {
            random.NextBytes(incompressible);
            Assert.Equal(201, (await server.SendAsync("PUT", $"{db}/docs?id={i}", $$"""{"t":"{{Convert.ToBase64String(incompressible)}}"}""")).Status);
        }

        using var client = new TcpClient { ReceiveBufferSize = 32 << 10 };
        await client.ConnectAsync(server.Address.Host, server.Address.Port);
        await client.GetStream().WriteAsync(Encoding.ASCII.GetBytes($"GET /admin/node/backup HTTP/1.1\r\nHost: {server.Address.Authority}\r\n\r\n"));
        await client.GetStream().ReadExactlyAsync(new byte[64]);
        await Assert.ThrowsAsync<BackupException>(server.Node.BeginBackupAsync);
        while (server.Log.Lines.IsEmpty)
        {
            time.Advance(TimeSpan.FromSeconds(61));
            await Task.Yield();
        }

        Assert.Contains("took nothing for 60 s", Assert.Single(server.Log.Lines), StringComparison.Ordinal);
        while (await TryBeginAsync() is not true)
        {
            await Task.Yield();
        }
    }

    private async Task<bool> TryBeginAsync()
    {
        try
        {
            (await server.Node.BeginBackupAsync()).Dispose();
            return true;
        }
        catch (BackupException)
        {
            return false;
        }
    }
}
