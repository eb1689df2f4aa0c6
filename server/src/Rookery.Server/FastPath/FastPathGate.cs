using System.Diagnostics.CodeAnalysis;
using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;

namespace Rookery.Server.FastPath;

/// <summary>
/// Admits a simple request where nothing has to wait or to be checked: on plain HTTP, where a request without a
/// credential has all rights, on a node that serves documents and has no other members. Thread-safe.
/// </summary>
internal sealed class FastPathGate(ServerContext context)
{
    private readonly BrowserGuard _guard = new(context.Options);
    private byte[] _allowedHost = [];

    /// <summary>Returns whether the request may be answered without the full pipeline, and its database.</summary>
    public bool TryAdmit(SimpleRequest request, [NotNullWhen(true)] out Database? database)
    {
        database = null;
        if (context.Readiness is not { Reason: null, Node: { Consensus.AnswersAtOnce: true } node })
        {
            return false;
        }

        var barrier = node.Consensus.ReadBarrierAsync();
        return barrier is { IsCompletedSuccessfully: true, Result: true }
            && node.Databases.TryGet(request.DatabaseName, out database)
            && !(request.TopologyEtag < node.Consensus.View.Etag)
            && IsAllowed(request.Host);
    }

    // The guard's other checks concern headers that a simple request does not have.
    private bool IsAllowed(ReadOnlySpan<byte> host)
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
