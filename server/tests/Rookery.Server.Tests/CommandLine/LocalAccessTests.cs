using Microsoft.Extensions.Logging.Abstractions;
using Rookery.Doctor;
using Rookery.Hosting;
using Rookery.Platform;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Simulation;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>What commands on the node's machine find in its data directory.</summary>
public sealed class LocalAccessTests
{
    private const string ClaimFile = "claim-code";
    private const string AccessFile = "local-access";

    [Fact]
    public async Task The_claim_code_file_is_deleted_when_the_node_serves_plain_HTTP()
    {
        var disk = new SimulatedDisk("/data");
        LocalAccess.Write(disk, "/data", ClaimFile, "AAAA-BBBB\n");
        var configuration = ServeConfiguration.From(
            new ServeSettings { Data = "/data", Listen = "http://127.0.0.1:8080" }
        );
        var time = new SimulatedTimeProvider();
        var context = new ServerContext(
            new ServerOptions { Listen = configuration.Listen },
            time,
            NullLogger.Instance,
            new MemoryBudget(96 << 20),
            new IoTimeline(time, "unknown")
        );
        await LocalAccess.AnnounceAsync(
            disk,
            configuration,
            AccessSecrets.Create(presetClaimCode: null),
            context,
            announcement: null,
            NullLogger.Instance
        );
        Assert.Null(LocalAccess.TryReadClaimCode(disk, "/data"));
        Assert.Equal(
            new LocalAccess(new Uri("http://127.0.0.1:8080"), Token: null),
            LocalAccess.TryRead(disk, "/data")
        );
    }

    /// <summary>A machine whose IPv6 is switched off has no ::1, and a node on :: answers over IPv4, too.</summary>
    [Theory]
    [InlineData("https://[::]:8443", "https://127.0.0.1:8443")]
    [InlineData("https://0.0.0.0:8443", "https://127.0.0.1:8443")]
    [InlineData("https://[::1]:8443", "https://[::1]:8443")]
    [InlineData("https://192.168.1.20:8443", "https://192.168.1.20:8443")]
    public void A_node_on_all_addresses_is_reached_over_IPv4_on_its_own_machine(string listen, string reached) =>
        Assert.Equal(
            new Uri(reached),
            LocalAccess.AddressOf(ServeConfiguration.From(new ServeSettings { Data = "/data", Listen = listen }))
        );

    /// <summary>
    /// The start after the change failed before it wrote the file, so the file still has the old address.
    /// </summary>
    [Fact]
    public void A_node_reconfigured_to_https_is_not_contacted_by_plain_HTTP()
    {
        string directory = Directory.CreateTempSubdirectory("rookery-doctor-").FullName;
        try
        {
            LocalAccess.Write(new PosixDisk(), directory, AccessFile, "http://127.0.0.1:8080\n\n");
            var node = ExaminedNode.Of(
                ServeConfiguration.From(new ServeSettings { Data = directory, Listen = "https://0.0.0.0:8443" })
            );
            Assert.Equal(new Uri("https://127.0.0.1:8443"), node.Connection.Address);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }
}
