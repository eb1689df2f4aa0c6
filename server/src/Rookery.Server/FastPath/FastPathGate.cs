using System.Diagnostics.CodeAnalysis;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Server.Access;

namespace Rookery.Server.FastPath;

/// <summary>
/// Decides whether a simple request may be answered without the full pipeline. Reads no disk and waits for nothing.
/// Thread-safe.
/// </summary>
internal sealed class FastPathGate(ServerContext context)
{
    private readonly BrowserGuard _guard = new(context.Options);
    private byte[] _allowedHost = [];

    /// <summary>Whether any request can be admitted now: this node serves documents and knows a leader.</summary>
    public bool IsOpen => context.Readiness is { Reason: null, Node.Consensus.HasLeader: true };

    /// <summary>
    /// Admits a request while <see cref="IsOpen"/>, if the caller has the scope that the route needs: on plain HTTP
    /// without a credential, otherwise by the credential of an earlier request of the connection.
    /// </summary>
    /// <param name="request">The request.</param>
    /// <param name="connection">Items of its connection.</param>
    /// <param name="database">The database of the request.</param>
    public bool TryAdmit(
        SimpleRequest request,
        IDictionary<object, object?> connection,
        [NotNullWhen(true)] out Database? database
    )
    {
        return context.Node.Databases.TryGet(request.DatabaseName, out database)
            && !database.Configurations.IsDisabled
            && AllowsHost(request.Host)
            && Admits(request, connection);
    }

    private bool Admits(SimpleRequest request, IDictionary<object, object?> connection)
    {
        if (!context.Options.IsSecure && request.Authorization.IsEmpty)
        {
            return true;
        }

        var scope = request.IsWrite ? RouteScope.Write : RouteScope.Read;
        return context.Access.Recall(connection, request.Authorization) is { } caller
            && scope.Admits(caller, request.DatabaseName)
            // The results of a batch say more to those who may read.
            && (request.Kind != SimpleRequestKind.Batch || RouteScope.Read.Admits(caller, request.DatabaseName));
    }

    // The guard's other checks concern headers that a simple request does not have.
    private bool AllowsHost(ReadOnlySpan<byte> host)
    {
        if (host.SequenceEqual(Volatile.Read(ref _allowedHost)))
        {
            return true;
        }

        if (!_guard.AllowsHost(new HostString(Encoding.ASCII.GetString(host))))
        {
            return false;
        }

        Volatile.Write(ref _allowedHost, host.ToArray());
        return true;
    }
}
