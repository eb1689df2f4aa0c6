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
/// How commands on the node's own machine reach the node: the file <c>local-access</c> in its data directory, readable
/// by root and the node's user. It contains the node's address and, over TLS, a token that is valid until the process
/// ends. The file <c>claim-code</c> beside it exists while the node has no owner.
/// </summary>
/// <param name="Address">The node's address on this machine.</param>
/// <param name="Token">A token with all rights; null over plain HTTP, which needs none.</param>
public sealed record LocalAccess(Uri Address, string? Token)
{
    private const string FileName = "local-access";
    private const string ClaimFileName = "claim-code";
    private const int MaxBytes = 64 << 10;

    private static readonly TimeSpan PollInterval = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Writes the file <c>local-access</c> for a node that now serves. Over plain HTTP that is all. Over TLS it then
    /// waits until the node has applied all acknowledged writes, because a member that has just joined may not know yet
    /// that the cluster has an owner. After that it announces the node's state by mDNS. If the node has no owner, it
    /// writes the claim code, logs how to claim the node, and returns when the node has an owner or the server stops.
    /// </summary>
    internal static async Task AnnounceAsync(
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
                announcement?.SetState(context.HasOwner ? ServiceAnnouncement.Member : ServiceAnnouncement.Starting);
            }

            // The code of an earlier process is no longer valid, and a node over plain HTTP cannot be claimed.
            Delete(disk, configuration.DataDirectory, ClaimFileName);
            string token = configuration.IsSecure ? secrets.LocalToken : string.Empty;
            Write(disk, configuration.DataDirectory, FileName, $"{AddressOf(configuration)}\n{token}\n");
            if (!configuration.IsSecure || context.Readiness.Reason is not null)
            {
                return;
            }

            if (await HasOwnerAsync(context))
            {
                announcement?.SetState(ServiceAnnouncement.Member);
                return;
            }

            announcement?.SetState(ServiceAnnouncement.Unclaimed);
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
            announcement?.SetState(ServiceAnnouncement.Member);
            Delete(disk, configuration.DataDirectory, ClaimFileName);
        }
        catch (OperationCanceledException)
        {
            // The node stops without an owner. The next start writes a new code.
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

    /// <summary>Reads how to reach the node of a data directory; null if there is no such file.</summary>
    /// <exception cref="DiskException">The file cannot be read.</exception>
    public static LocalAccess? TryRead(IDisk disk, string directory) =>
        ReadText(disk, directory, FileName) is { } text
        && text.Split('\n', 3) is [var address, var token, _]
        && Uri.TryCreate(address, UriKind.Absolute, out var url)
            ? new LocalAccess(url, token.Length > 0 ? token : null)
            : null;

    /// <summary>Reads the code that claims the node of a data directory; null if the node has an owner.</summary>
    /// <exception cref="DiskException">The file cannot be read.</exception>
    public static string? TryReadClaimCode(IDisk disk, string directory) =>
        ReadText(disk, directory, ClaimFileName)?.Trim();

    private static async Task<bool> HasOwnerAsync(ServerContext context)
    {
        try
        {
            // A leader has applied all acknowledged writes.
            while (
                !context.HasOwner
                && !context.Node.Consensus.IsLeader
                && !await context.Node.Consensus.ReadBarrierAsync()
            )
            {
                await Task.Delay(PollInterval, context.Time, context.Stopping);
            }

            return context.HasOwner;
        }
        catch (OperationCanceledException)
        {
            return true; // the node stops, so the answer no longer matters
        }
    }

    private static async Task AwaitOwnerAsync(ServerContext context)
    {
        while (!context.HasOwner)
        {
            await Task.Delay(PollInterval, context.Time, context.Stopping);
        }
    }

    /// <summary>Returns the address at which a node with this configuration answers on its own machine.</summary>
    public static Uri AddressOf(ServeConfiguration configuration)
    {
        // A node that listens on :: answers over IPv4, too, and a machine whose IPv6 is switched off has no ::1.
        var address = configuration.Listen.Address;
        address = address.Equals(IPAddress.Any) || address.Equals(IPAddress.IPv6Any) ? IPAddress.Loopback : address;
        string scheme = configuration.IsSecure ? "https" : "http";
        return new Uri($"{scheme}://{new IPEndPoint(address, configuration.Listen.Port)}");
    }

    /// <summary>
    /// Replaces a file in a directory by one rename. Does not sync it, because the next start writes it again.
    /// </summary>
    /// <exception cref="DiskException">The file could not be written. The old one is intact.</exception>
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
        byte[] bytes = new byte[Math.Min(file.Length, MaxBytes)];
        file.Read(bytes, 0);
        return Encoding.UTF8.GetString(bytes);
    }
}
