using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Rookery.Server.Access;
using Rookery.Server.Raven;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// The beginning of a connection of RavenDB's TCP protocol: client and server agree on a version, and the server checks
/// the client's certificate, as for HTTP.
/// </summary>
internal sealed class TcpHandshake(ServerContext context, ConnectionContext connection, MessageReader reader)
{
    /// <summary>The first version whose batches may contain included documents.</summary>
    public const int IncludesVersion = 41_400;

    /// <summary>The first version whose batches may contain included counters.</summary>
    public const int CountersVersion = 50_000;

    // A client sends its header again with each version that the server suggests.
    private const int MaxHeaders = 8;
    private const int OutOfRange = -1;

    // The newest version has compression, which a client asks for and the server declines.
    private static readonly int[] Versions = [53_000, 51_000, CountersVersion, IncludesVersion, 40];

    /// <summary>The agreed version.</summary>
    public int Version { get; private set; }

    /// <summary>Name of the database.</summary>
    public string Database { get; private set; } = string.Empty;

    /// <summary>Reads headers until a version is agreed and the client is known.</summary>
    /// <returns>
    /// Whether the connection continues. If not, the reason is already sent. But nothing is sent if the client cannot
    /// be checked now: it takes each answer other than "Ok" as final, and connects again if there is none.
    /// </returns>
    public async Task<bool> RunAsync(CancellationToken cancellationToken)
    {
        for (int i = 0; i < MaxHeaders; i++)
        {
            if (await reader.ReadAsync(cancellationToken) is not { } message)
            {
                return false;
            }

            Header header;
            try
            {
                header = Header.Read(message);
            }
            catch (RefusedException refused)
            {
                await SendAsync("AuthorizationFailed", OutOfRange, refused.Message, cancellationToken);
                return false;
            }

            if (header.Operation is "Drop")
            {
                return false;
            }

            if (header.Operation is not "Subscription")
            {
                await SendAsync(
                    "AuthorizationFailed",
                    OutOfRange,
                    $"The operation '{header.Operation}' is not supported by this version; there are subscriptions "
                        + "only.",
                    cancellationToken
                );
                return false;
            }

            if (!Versions.Contains(header.Version))
            {
                int suggested = Versions.FirstOrDefault(version => version < header.Version, OutOfRange);
                await SendAsync(
                    "TcpVersionMismatch",
                    suggested,
                    $"This server speaks the versions {string.Join(", ", Versions)} of subscriptions.",
                    cancellationToken
                );
                continue;
            }

            (Version, Database) = (header.Version, header.Database);
            if (await WhyRefusedAsync() is { } refusal)
            {
                context.Subscriptions.CountRefusal();
                if (refusal.Status != StatusCodes.Status503ServiceUnavailable)
                {
                    await SendAsync("AuthorizationFailed", Version, refusal.Sentence, cancellationToken);
                }

                return false;
            }

            await SendAsync("Ok", Version, message: null, cancellationToken);
            return true;
        }

        return false;
    }

    /// <summary>
    /// Returns why the client may not read the database now; null if it may. Status 503 if it cannot be checked.
    /// </summary>
    public AccessRefusal? WhyRefused() => context.Access.WhyNoReader(ClientCertificate, Database);

    private X509Certificate2? ClientCertificate => connection.Features.Get<ITlsConnectionFeature>()?.ClientCertificate;

    private async Task<AccessRefusal?> WhyRefusedAsync()
    {
        var refusal = WhyRefused();
        if (refusal is not { MayBeStale: true })
        {
            return refusal;
        }

        // A lagging member may not know the certificate yet.
        return context.Readiness.Node is { } node && await node.Consensus.ReadBarrierAsync()
            ? WhyRefused()
            : context.Access.CannotCheck();
    }

    private async Task SendAsync(string status, int version, string? message, CancellationToken cancellationToken) =>
        await connection.Transport.Output.WriteAsync(
            ServerMessages.Header(status, version, message),
            cancellationToken
        );

    private sealed class Header
    {
        public string Database { get; private set; } = string.Empty;

        public string Operation { get; private set; } = string.Empty;

        public int Version { get; private set; }

        public static Header Read(ReadOnlySpan<byte> message) =>
            JsonBody.Read(
                message,
                static (ref Utf8JsonReader json) =>
                {
                    var header = new Header();
                    JsonBody.ForEachMember(ref json, header.ReadMember, "The header of the connection");
                    return header;
                }
            );

        private void ReadMember(string name, ref Utf8JsonReader value)
        {
            switch (name)
            {
                case "DatabaseName":
                    Database = JsonBody.ReadText(ref value, name) ?? string.Empty;
                    break;
                case "Operation":
                    Operation = JsonBody.ReadText(ref value, name) ?? string.Empty;
                    break;
                case "OperationVersion" when value.TokenType == JsonTokenType.Number:
                    Version = value.TryGetInt32(out int version) ? version : OutOfRange;
                    break;
                default:
                    // The rest describes the client: its tag, its license, the server that it expects.
                    value.Skip();
                    break;
            }
        }
    }
}
