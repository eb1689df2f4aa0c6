using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Attachments;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Server.Raven;

/// <summary>Maps each rejection and exception to the status, exception type and headers of its error answer.</summary>
internal static class RavenErrors
{
    /// <summary>Answers a request whose command or read was rejected.</summary>
    /// <param name="http">The request.</param>
    /// <param name="rejection">The rejection.</param>
    /// <param name="clientMayRetry">Whether the client may send the request again if its outcome is unknown: see
    /// <see cref="RepeatableWrite"/>.</param>
    public static Task WriteAsync(HttpContext http, Rejection rejection, bool clientMayRetry = false)
    {
        rejection = Explain(http, rejection);
        var (status, type) =
            rejection.Kind == RejectionKind.OutcomeUnknown && clientMayRetry
                ? (StatusCodes.Status504GatewayTimeout, RavenType.Timeout)
                : Of(rejection.Kind);
        if (rejection.Kind == RejectionKind.Stopping && !http.Response.HasStarted)
        {
            // The client then sends no further request on this connection.
            http.Response.Headers.Connection = "close";
        }

        if (rejection.Kind == RejectionKind.Diagnosis && !http.Response.HasStarted)
        {
            http.Response.Headers[Readiness.TakesNoPart] = "true";
        }

        // The apply thread knows a database only by its number; the route has its name.
        if (
            rejection.Kind == RejectionKind.DatabaseMissing
            && (rejection.Database ?? http.Request.RouteValues["database"] as string) is { } database
        )
        {
            NameMissingDatabase(http, database);
        }

        return ErrorResponse.WriteAsync(
            http,
            status,
            type,
            rejection.Message,
            rejection.Violations is { } violations ? json => WriteViolations(json, violations) : null
        );
    }

    /// <summary>Answers a request that a handler refused.</summary>
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
            : ErrorResponse.WriteAsync(http, refused.Status, refused.Type, refused.Message);
    }

    /// <summary>
    /// Returns the rejection to send. A node that is no longer a member never learns of a leader, so for "no leader" it
    /// returns the reason why it takes no part; otherwise clients would retry forever.
    /// </summary>
    public static Rejection Explain(HttpContext http, Rejection rejection) =>
        rejection.Kind == RejectionKind.NoLeader ? WhyNoPart(http) ?? rejection : rejection;

    /// <summary>
    /// Returns the error answer for an exception that is not a fault of the node; null for any other exception.
    /// </summary>
    public static RefusedException? AsRefusal(Exception failure) =>
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

    /// <summary>
    /// As <see cref="AsRefusal"/>, and returns the error for data or a disk that this node cannot read: 500. A handler
    /// that takes an <see cref="IOException"/> for a broken connection asks this first.
    /// </summary>
    public static RefusedException? AsOwnFailure(Exception failure) =>
        failure is DamagedException or DiskException || (failure.InnerException ?? failure) is ContentDamagedException
            ? new RefusedException(StatusCodes.Status500InternalServerError, RavenType.RavenException, failure.Message)
            : AsRefusal(failure);

    /// <summary>Returns a rejection as an exception, for handlers that do not answer with it directly.</summary>
    public static RefusedException Refuse(Rejection rejection)
    {
        var (status, type) = Of(rejection.Kind);
        return new RefusedException(status, type, rejection.Message);
    }

    /// <summary>Returns the error for invalid input: 413, 501 or 400.</summary>
    public static RefusedException Refuse(in InputError error) =>
        error.Kind switch
        {
            InputErrorKind.TooLarge => new RefusedException(
                StatusCodes.Status413PayloadTooLarge,
                RavenType.BadRequest,
                error.ToString()
            ),
            InputErrorKind.NotSupported => RefusedException.NotSupported(error.ToString()),
            _ when error.Code == InputErrorCode.KeyTooLong => new RefusedException(
                StatusCodes.Status400BadRequest,
                RavenType.CompareExchangeKeyTooBig,
                error.ToString()
            ),
            _ => RefusedException.BadRequest(error.ToString()),
        };

    /// <summary>
    /// Answers that the database does not exist, in the form RavenDB's clients expect on every route.
    /// </summary>
    public static Task WriteDatabaseMissingAsync(HttpContext http, string name)
    {
        NameMissingDatabase(http, name);
        return ErrorResponse.WriteAsync(
            http,
            StatusCodes.Status503ServiceUnavailable,
            RavenType.DatabaseDoesNotExist,
            $"There is no database '{name}' on this node. "
                + (
                    DatabaseName.Problem(name)
                    ?? $"Create it with PUT /admin/databases?name={Uri.EscapeDataString(name)}."
                )
        );
    }

    /// <summary>Returns why this node is no longer a member; null if it takes part.</summary>
    public static Rejection? WhyNoPart(ServerContext context) =>
        context.Readiness.Node?.ReadStatistics()?.Consensus is { Role: ConsensusStatistics.NoRole, Trouble: { } why }
            ? new Rejection(RejectionKind.Diagnosis, why)
            : null;

    private static Rejection? WhyNoPart(HttpContext http) =>
        // A request inside a multi_get has no services of its own.
        (http.Features.Get<MultiGetPart>()?.Outer ?? http).RequestServices?.GetService(typeof(ServerContext))
            is ServerContext context
            ? WhyNoPart(context)
            : null;

    private static (int Status, string Type) Of(RejectionKind kind) =>
        kind switch
        {
            RejectionKind.ConcurrencyConflict => (StatusCodes.Status409Conflict, RavenType.Concurrency),
            RejectionKind.ClusterTransactionConflict => (
                StatusCodes.Status409Conflict,
                RavenType.ClusterTransactionConcurrency
            ),
            RejectionKind.DatabaseExists => (StatusCodes.Status409Conflict, RavenType.Concurrency),
            RejectionKind.DatabaseMissing => (StatusCodes.Status503ServiceUnavailable, RavenType.DatabaseDoesNotExist),
            RejectionKind.PatchFailed => (StatusCodes.Status400BadRequest, RavenType.PatchFailed),
            RejectionKind.DocumentMissing => (StatusCodes.Status400BadRequest, RavenType.DocumentDoesNotExist),
            RejectionKind.AttachmentMissing => (StatusCodes.Status400BadRequest, RavenType.AttachmentDoesNotExist),
            RejectionKind.NotPossible => (StatusCodes.Status400BadRequest, RavenType.RavenException),
            RejectionKind.CounterOverflow => (StatusCodes.Status400BadRequest, RavenType.CounterOverflow),
            RejectionKind.DatabaseDisabled => (StatusCodes.Status503ServiceUnavailable, RavenType.DatabaseDisabled),
            RejectionKind.DatabaseLocked => (StatusCodes.Status400BadRequest, RavenType.RavenException),
            RejectionKind.NeedsNewerFormat => (StatusCodes.Status501NotImplemented, RavenType.NotSupported),
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

    private static void WriteViolations(Utf8JsonWriter json, IReadOnlyList<ConcurrencyViolation> violations)
    {
        json.WriteStartArray("ConcurrencyViolations"u8);
        foreach (var violation in violations)
        {
            json.WriteStartObject();
            json.WriteString("Type"u8, violation.IsDocument ? "Document"u8 : "CompareExchange"u8);
            json.WriteString("Id"u8, violation.Id);
            json.WriteNumber("Expected"u8, violation.Expected);
            json.WriteNumber("Actual"u8, violation.Actual);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    // A header value can carry visible ASCII only.
    private static void NameMissingDatabase(HttpContext http, string name) =>
        http.Response.Headers["Database-Missing"] = Uri.EscapeDataString(name);
}
