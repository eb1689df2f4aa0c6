using System.Globalization;
using System.Text.Json;

namespace Rookery.Server.Operations;

/// <summary>
/// How long the certificate that clients are shown holds. It is renewed by itself when a third of its life is left;
/// whoever does not read logs learns here that it was not.
/// </summary>
internal static class CertificateHealth
{
    // Of its life: behind the third at which it is renewed.
    private const int TroubleShare = 4;

    /// <summary>Writes the member <c>Certificate</c>; nothing for a node without one.</summary>
    public static void Write(Utf8JsonWriter json, ServerContext context)
    {
        if (context.Options.Identity?.Invoke()?.Certificate is not { } certificate)
        {
            return;
        }

        var (begins, ends) = (certificate.NotBefore.ToUniversalTime(), certificate.NotAfter.ToUniversalTime());
        var now = context.KnownTime.UtcDateTime;
        json.WriteStartObject("Certificate"u8);
        json.WriteString("Expires"u8, ends);
        json.WriteString(
            "Trouble"u8,
            ends - now >= (ends - begins) / TroubleShare
                ? null
                : string.Create(
                    CultureInfo.InvariantCulture,
                    $"The certificate that clients are shown ends on {ends:yyyy-MM-dd}, and was to be signed "
                        + $"anew long before: clients refuse this node from then on. Its log says why it was not."
                )
        );
        json.WriteEndObject();
    }

    /// <summary>How many days the certificate still holds; null for a node without one.</summary>
    public static double? DaysLeft(ServerContext context) =>
        context.Options.Identity?.Invoke()?.Certificate is { } certificate
            ? (certificate.NotAfter.ToUniversalTime() - context.KnownTime.UtcDateTime).TotalDays
            : null;

    /// <summary>Adds the figure; nothing for a node without a certificate.</summary>
    public static void Add(PrometheusText text, ServerContext context)
    {
        if (context.Options.Identity?.Invoke()?.Certificate is { } certificate)
        {
            text.Gauge(
                    "rookery_certificate_not_after_seconds",
                    "When the certificate that clients are shown ends, since 1970."
                )
                .Sample((certificate.NotAfter.ToUniversalTime() - DateTime.UnixEpoch).TotalSeconds);
        }
    }
}
