using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Access;

/// <summary>
/// Whether whoever listens to a feed still may: it goes on for as long as he likes, and his credential may be withdrawn
/// or end meanwhile.
/// </summary>
/// <param name="context">What the routes share.</param>
/// <param name="http">The request that began the feed.</param>
internal sealed class FeedAccess(ServerContext context, HttpContext http)
{
    /// <summary>Between two looks.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private long _lookedAt = context.Time.GetTimestamp();
    private string? _reason;

    /// <summary>Why he may not, in a sentence; null when he may.</summary>
    public string? WhyEnded() => context.Access.Refusal(http, http.GetEndpoint())?.Sentence;

    /// <summary>The same as it was at the last look, which is at most <see cref="Interval"/> ago.</summary>
    public string? WhyEndedLately()
    {
        if (context.Time.GetElapsedTime(_lookedAt) >= Interval)
        {
            (_lookedAt, _reason) = (context.Time.GetTimestamp(), WhyEnded());
        }

        return _reason;
    }
}
