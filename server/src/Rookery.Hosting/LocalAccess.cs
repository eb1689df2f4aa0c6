using System.Net;
using System.Text;
using Microsoft.Extensions.Logging;
using Rookery.Hosting.Machine;
using Rookery.Platform;
using Rookery.Server;
using Rookery.Server.Access;
using Rookery.Server.Configuration;
using Rookery.Server.Support;

namespace Rookery.Hosting;

/// <summary>
/// How commands on the node's own machine find it: the file <c>local-access</c> of its data directory, for the eyes of
/// root and of the node's user, has its address and, of a node that speaks TLS, a token that ends with the process.
/// Beside it lies <c>claim-code</c>, while the node has no owner.
/// </summary>
/// <param name="Address">Where the node answers on this machine.</param>
/// <param name="Token">A token that may do everything; null for plain HTTP, which asks for none.</param>
public sealed record LocalAccess(Uri Address, string? Token)
{
    private const string FileName = "local-access";
    private const string ClaimFileName = "claim-code";
    private const int MostBytes = 64 << 10;

    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Writes the files of a node that serves now, and, over TLS, says how it is claimed if it has no owner: when it
    /// knows all that was acknowledged, because a member that has just joined has not heard yet of who claimed the
    /// cluster. The same goes for what is announced by mDNS. Ends with that, or when the server stops.
    /// </summary>
    internal static async Task TellAsync(
        IDisk disk,
        ServeConfiguration configuration,
        AccessSecrets secrets,
        ServerContext context,
        ServiceAnnouncement? announcement,
        ILogger log
    )
    {
        try
        {
            if (configuration.IsSecure)
            {
                announcement?.Tell(context.HasOwner ? ServiceAnnouncement.Member : ServiceAnnouncement.Starting);
            }

            // An earlier start's code opens nothing now, and over plain HTTP nothing is claimed.
            Delete(disk, configuration.DataDirectory, ClaimFileName);
            Write(
                disk,
                configuration.DataDirectory,
                FileName,
                $"{AddressOf(configuration)}\n{(configuration.IsSecure ? secrets.LocalToken : string.Empty)}\n"
            );
            if (!configuration.IsSecure || context.Readiness.Reason is not null)
            {
                return;
            }

            if (await HasOwnerAsync(context))
            {
                announcement?.Tell(ServiceAnnouncement.Member);
                return;
            }

            announcement?.Tell(ServiceAnnouncement.Unclaimed);
            Write(disk, configuration.DataDirectory, ClaimFileName, secrets.ClaimCode + "\n");
            log.LogWarning(
                LogEvents.Unclaimed,
                "This node has no owner yet. Claim it with the code {Code}: `rookery claim --data {Directory}` "
                    + "here, or `rookery claim --url URL --code CODE` from elsewhere. Until then it serves nothing "
                    + "else.",
                secrets.IsClaimCodePreset ? $"that {configuration.ClaimCodeFile} holds" : secrets.ClaimCode,
                configuration.DataDirectory
            );
            await AwaitOwnerAsync(context);
            announcement?.Tell(ServiceAnnouncement.Member);
            Delete(disk, configuration.DataDirectory, ClaimFileName);
        }
        catch (OperationCanceledException)
        {
            // It stops without an owner: the next start writes another code.
        }
        catch (DiskException refused)
        {
            log.LogError(
                LogEvents.LocalAccessFailed,
                "Commands on this machine do not find this node by its data directory: {Reason}",
                refused.Message
            );
        }
    }

    /// <summary>How to reach the node of a data directory; null when none wrote it down.</summary>
    /// <exception cref="DiskException">It may not be read.</exception>
    public static LocalAccess? TryRead(IDisk disk, string directory) =>
        ReadText(disk, directory, FileName) is { } text
        && text.Split('\n', 3) is [var address, var token, _]
        && Uri.TryCreate(address, UriKind.Absolute, out var url)
            ? new LocalAccess(url, token.Length > 0 ? token : null)
            : null;

    /// <summary>The code by which the node of a data directory is claimed; null when it has an owner.</summary>
    /// <exception cref="DiskException">It may not be read.</exception>
    public static string? TryReadClaimCode(IDisk disk, string directory) =>
        ReadText(disk, directory, ClaimFileName)?.Trim();

    private static async Task<bool> HasOwnerAsync(ServerContext context)
    {
        try
        {
            // Who leads knows all that was acknowledged.
            while (
                !context.HasOwner
                && !context.Node.Consensus.IsLeader
                && !await context.Node.Consensus.ReadBarrierAsync()
            )
            {
                await Task.Delay(Pause, context.Time, context.Stopping);
            }

            return context.HasOwner;
        }
        catch (OperationCanceledException)
        {
            return true; // it stops, and nobody needs to know any more
        }
    }

    private static async Task AwaitOwnerAsync(ServerContext context)
    {
        while (!context.HasOwner)
        {
            await Task.Delay(Pause, context.Time, context.Stopping);
        }
    }

    /// <summary>Where a node that is served with a configuration answers on its own machine.</summary>
    public static Uri AddressOf(ServeConfiguration configuration)
    {
        var address = configuration.Listen.Address;
        address =
            address.Equals(IPAddress.Any) ? IPAddress.Loopback
            : address.Equals(IPAddress.IPv6Any) ? IPAddress.IPv6Loopback
            : address;
        return new Uri(
            $"{(configuration.IsSecure ? "https" : "http")}://{new IPEndPoint(address, configuration.Listen.Port)}"
        );
    }

    /// <summary>
    /// Replaces a file of a directory by one rename. It is not synced: after a power cut the next start writes another.
    /// </summary>
    /// <exception cref="DiskException">It could not be written; the old one is whole.</exception>
    public static void Write(IDisk disk, string directory, string name, string text)
    {
        string path = Path.Join(directory, name);
        Delete(disk, directory, name + ".new");
        using (var file = disk.Open(path + ".new", DiskOpen.CreateNew))
        {
            file.Write(Encoding.UTF8.GetBytes(text), 0);
        }

        disk.Rename(path + ".new", path);
    }

    private static void Delete(IDisk disk, string directory, string name)
    {
        string path = Path.Join(directory, name);
        if (disk.Exists(path))
        {
            disk.Delete(path);
        }
    }

    private static string? ReadText(IDisk disk, string directory, string name)
    {
        string path = Path.Join(directory, name);
        if (!disk.Exists(path))
        {
            return null;
        }

        using var file = disk.Open(path, DiskOpen.Read);
        byte[] bytes = new byte[Math.Min(file.Length, MostBytes)];
        file.Read(bytes, 0);
        return Encoding.UTF8.GetString(bytes);
    }
}
