using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Json;
using Rookery.Storage;

namespace Rookery.Server.Raven;

/// <summary>Maps every refusal of the rooms below to status, exception type and headers, in one place.</summary>
internal static class RavenErrors
{
    /// <summary>Answers with a rejected command or read.</summary>
    /// <param name="http">The request.</param>
    /// <param name="rejection">What was refused.</param>
    /// <param name="mayBeRepeated">Whether it may be sent again when nobody can say whether it was done: see
    /// <see cref="RepeatableWrite"/>.</param>
    public static Task WriteAsync(HttpContext http, Rejection rejection, bool mayBeRepeated = false)
    {
        rejection = Explain(http, rejection);
        var (status, type) =
            rejection.Kind == RejectionKind.OutcomeUnknown && mayBeRepeated
                ? (StatusCodes.Status504GatewayTimeout, RavenType.Timeout)
                : Of(rejection.Kind);
        if (rejection.Kind == RejectionKind.Overloaded)
        {
            http.Response.Headers.RetryAfter = "1";
        }

        if (rejection.Kind == RejectionKind.Stopping && !http.Response.HasStarted)
        {
            // So that a client ends what it still sends.
            http.Response.Headers.Connection = "close";
        }

        if (rejection.Kind == RejectionKind.Diagnosis && !http.Response.HasStarted)
        {
            http.Response.Headers[Readiness.TakesNoPart] = "true";
        }

        // Apply knows a database by its number only; the route has the name.
        if (
            rejection.Kind == RejectionKind.DatabaseMissing
            && (rejection.Database ?? http.Request.RouteValues["database"] as string) is { } database
        )
        {
            NameMissingDatabase(http, database);
        }

        return ErrorAnswer.WriteAsync(http, status, type, rejection.Message);
    }

    /// <summary>Answers with a refusal.</summary>
    public static Task WriteAsync(HttpContext http, RefusedException refused)
    {
        if (
            refused.Type is RavenType.DatabaseDoesNotExist
            && !http.Response.HasStarted
            && http.Request.RouteValues["database"] is string database
        )
        {
            NameMissingDatabase(http, database);
        }

        return refused.Type is RavenType.NoLeader && WhyNoPart(http) is { } why
            ? WriteAsync(http, why)
            : ErrorAnswer.WriteAsync(http, refused.Status, refused.Type, refused.Message);
    }

    /// <summary>
    /// What a client is told of a rejection. A node that is no member any more knows no leader and never will: it says
    /// so instead of having its clients try again.
    /// </summary>
    public static Rejection Explain(HttpContext http, Rejection rejection) =>
        rejection.Kind == RejectionKind.NoLeader ? WhyNoPart(http) ?? rejection : rejection;

    /// <summary>What a handler threw that is no fault of the node, as it is answered; null for anything else.</summary>
    public static RefusedException? TryRefuse(Exception failure) =>
        failure switch
        {
            RefusedException refused => refused,
            DatabaseGoneException gone => new RefusedException(
                StatusCodes.Status503ServiceUnavailable,
                gone.IsDeleted ? RavenType.DatabaseDoesNotExist : RavenType.RavenException,
                gone.Message
            ),
            SnapshotEndedException ended => new RefusedException(
                StatusCodes.Status503ServiceUnavailable,
                RavenType.RavenException,
                ended.Message
            ),
            _ => null,
        };

    /// <summary>A rejected command within a request that ends otherwise.</summary>
    public static RefusedException Refuse(Rejection rejection)
    {
        var (status, type) = Of(rejection.Kind);
        return new RefusedException(status, type, rejection.Message);
    }

    /// <summary>Answers with bytes that were refused.</summary>
    public static RefusedException Refuse(in InputError error) =>
        error.Kind switch
        {
            InputErrorKind.TooLarge => new RefusedException(
                StatusCodes.Status413PayloadTooLarge,
                RavenType.BadRequest,
                error.ToString()
            ),
            InputErrorKind.NotSupported => RefusedException.NotSupported(error.ToString()),
            _ => RefusedException.BadRequest(error.ToString()),
        };

    /// <summary>Answers that there is no such database, as clients expect it on every route.</summary>
    public static Task WriteDatabaseMissingAsync(HttpContext http, string name)
    {
        NameMissingDatabase(http, name);
        return ErrorAnswer.WriteAsync(
            http,
            StatusCodes.Status503ServiceUnavailable,
            RavenType.DatabaseDoesNotExist,
            $"There is no database '{name}' on this node. Create it with PUT "
                + $"/admin/databases?name={Uri.EscapeDataString(name)}."
        );
    }

    private static Rejection? WhyNoPart(HttpContext http) =>
        // A part of a multi_get has no services of its own.
        (http.Features.Get<MultiGetPart>()?.Around ?? http).RequestServices?.GetService(typeof(ServerContext))
            is ServerContext { Readiness.Node: { } node }
        && node.ReadStatistics()?.Consensus is { Role: ConsensusStatistics.NoRole, Trouble: { } why }
            ? new Rejection(RejectionKind.Diagnosis, why)
            : null;

    private static (int Status, string Type) Of(RejectionKind kind) =>
        kind switch
        {
            RejectionKind.ConcurrencyConflict => (StatusCodes.Status409Conflict, RavenType.Concurrency),
            RejectionKind.DatabaseExists => (StatusCodes.Status409Conflict, RavenType.Concurrency),
            RejectionKind.DatabaseMissing => (StatusCodes.Status503ServiceUnavailable, RavenType.DatabaseDoesNotExist),
            RejectionKind.PatchFailed => (StatusCodes.Status400BadRequest, RavenType.PatchFailed),
            RejectionKind.TooLarge => (StatusCodes.Status413PayloadTooLarge, RavenType.BadRequest),
            RejectionKind.Invalid => (StatusCodes.Status400BadRequest, RavenType.BadRequest),
            RejectionKind.IdempotencyKeyReused => (StatusCodes.Status422UnprocessableEntity, RavenType.BadRequest),
            RejectionKind.Overloaded => (StatusCodes.Status429TooManyRequests, RavenType.RavenException),
            RejectionKind.InsufficientSpace => (StatusCodes.Status507InsufficientStorage, RavenType.RavenException),
            RejectionKind.NoLeader => (StatusCodes.Status503ServiceUnavailable, RavenType.NoLeader),
            RejectionKind.OutcomeUnknown or RejectionKind.Damaged => (
                StatusCodes.Status500InternalServerError,
                RavenType.RavenException
            ),
            _ => (StatusCodes.Status503ServiceUnavailable, RavenType.RavenException),
        };

    // A header takes visible ASCII only.
    private static void NameMissingDatabase(HttpContext http, string name) =>
        http.Response.Headers["Database-Missing"] = Uri.EscapeDataString(name);
}
