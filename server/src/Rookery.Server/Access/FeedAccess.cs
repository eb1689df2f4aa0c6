using Microsoft.AspNetCore.Http;
using Rookery.Server.Raven;

namespace Rookery.Server.Access;

/// <summary>
/// Checks the rights of a feed's listener, or of the sender of a body of any length, every <see cref="Interval"/>. Both
/// can last for days, and their credential can be revoked or expire meanwhile.
/// </summary>
/// <param name="context">State that the routes share.</param>
/// <param name="http">The request that began the feed.</param>
internal sealed class FeedAccess(ServerContext context, HttpContext http)
{
    /// <summary>Time between two checks.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private long _checkedAt = context.Time.GetTimestamp();
    private string? _reason;

    /// <summary>Checks now; returns why the listener is no longer allowed, or null.</summary>
    public string? WhyEnded() => context.Access.Refusal(http, http.GetEndpoint())?.Sentence;

    /// <summary>Refuses the rest of a body whose sender is no longer allowed to write.</summary>
    /// <exception cref="RefusedException">The credential was revoked or has expired: 403.</exception>
    public void RequireForBody()
    {
        if (WhyEndedCached() is { } ended)
        {
            throw new RefusedException(StatusCodes.Status403Forbidden, ErrorResponse.Forbidden, ended);
        }
    }

    /// <summary>Returns the result of <see cref="WhyEnded"/>, at most <see cref="Interval"/> old.</summary>
    public string? WhyEndedCached()
    {
        if (context.Time.GetElapsedTime(_checkedAt) >= Interval)
        {
            (_checkedAt, _reason) = (context.Time.GetTimestamp(), WhyEnded());
        }

        return _reason;
    }
}
