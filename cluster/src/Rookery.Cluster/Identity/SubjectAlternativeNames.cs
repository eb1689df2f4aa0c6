using System.Formats.Asn1;
using System.Net;
using System.Security.Cryptography.X509Certificates;

namespace Rookery.Cluster.Identity;

/// <summary>
/// The subject alternative names of a leaf (RFC 5280 4.2.1.6). Encoded by hand, because the framework's builder
/// converts the host of a URI to lower case, and its reader ignores URIs.
/// </summary>
/// <param name="DnsNames">DNS names.</param>
/// <param name="Addresses">IP addresses.</param>
/// <param name="Uri">The certificate's subject; see <see cref="NodeUri"/>.</param>
internal sealed record SubjectAlternativeNames(
    IReadOnlyList<string> DnsNames,
    IReadOnlyList<IPAddress> Addresses,
    string Uri
)
{
    private const string ObjectId = "2.5.29.17";

    private static readonly Asn1Tag DnsName = new(TagClass.ContextSpecific, 2);
    private static readonly Asn1Tag UniformResourceIdentifier = new(TagClass.ContextSpecific, 6);
    private static readonly Asn1Tag IpAddress = new(TagClass.ContextSpecific, 7);

    /// <summary>Returns the extension with these names.</summary>
    public X509Extension ToExtension()
    {
        var writer = new AsnWriter(AsnEncodingRules.DER);
        using (writer.PushSequence())
        {
            foreach (string name in DnsNames)
            {
                writer.WriteCharacterString(UniversalTagNumber.IA5String, name, DnsName);
            }

            foreach (var address in Addresses)
            {
                writer.WriteOctetString(address.GetAddressBytes(), IpAddress);
            }

            writer.WriteCharacterString(UniversalTagNumber.IA5String, Uri, UniformResourceIdentifier);
        }

        return new X509Extension(ObjectId, writer.Encode(), critical: false);
    }

    /// <summary>
    /// Reads the names of an untrusted certificate; null when it has none, not exactly one URI, or they are malformed.
    /// </summary>
    public static SubjectAlternativeNames? ReadFrom(X509Certificate2 certificate)
    {
        try
        {
            return certificate.Extensions[ObjectId] is { } extension
                ? Read(new AsnReader(extension.RawData, AsnEncodingRules.DER))
                : null;
        }
        catch (AsnContentException)
        {
            return null;
        }
    }

    private static SubjectAlternativeNames? Read(AsnReader reader)
    {
        List<string> names = [];
        List<string> uris = [];
        List<IPAddress> addresses = [];
        var content = reader.ReadSequence();
        while (content.HasData)
        {
            var tag = content.PeekTag();
            if (tag.HasSameClassAndValue(DnsName))
            {
                names.Add(content.ReadCharacterString(UniversalTagNumber.IA5String, DnsName));
            }
            else if (tag.HasSameClassAndValue(UniformResourceIdentifier))
            {
                uris.Add(content.ReadCharacterString(UniversalTagNumber.IA5String, UniformResourceIdentifier));
            }
            else if (
                tag.HasSameClassAndValue(IpAddress) && content.ReadOctetString(IpAddress) is { Length: 4 or 16 } address
            )
            {
                addresses.Add(new IPAddress(address));
            }
            else
            {
                return null;
            }
        }

        return uris is [var uri] ? new SubjectAlternativeNames(names, addresses, uri) : null;
    }
}
