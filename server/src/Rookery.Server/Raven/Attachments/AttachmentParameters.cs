using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Attachments;
using Rookery.Documents.Ids;
using Rookery.Server.Raven.Documents;

namespace Rookery.Server.Raven.Attachments;

/// <summary>The document and the attachment that a request names, as UTF-8.</summary>
/// <param name="Id">Id of the document.</param>
/// <param name="Name">Name of the attachment.</param>
internal readonly record struct AttachmentParameters(byte[] Id, byte[] Name)
{
    /// <summary>Reads the query string.</summary>
    /// <exception cref="RefusedException">A parameter is missing or invalid: 400.</exception>
    public static AttachmentParameters Read(HttpContext http)
    {
        var parameters = new QueryParameters(http);
        if (!parameters.TryGetEscaped("id", out var escaped))
        {
            throw RefusedException.BadRequest("The parameter 'id' is missing in the query string.");
        }

        Span<byte> id = stackalloc byte[DocumentId.MaxBytes];
        id = id[..DocumentIdParameter.Read(escaped, id)];
        byte[] name = Encoding.UTF8.GetBytes(parameters.RequiredText("name"));
        return AttachmentList.IsName(name)
            ? new AttachmentParameters(id.ToArray(), name)
            : throw RefusedException.BadRequest(
                $"The name of an attachment has 1 to {AttachmentList.MaxNameBytes} bytes, but the parameter 'name' has "
                    + $"{name.Length}. Choose another one."
            );
    }

    /// <summary>Reads the content type, which may be missing.</summary>
    /// <exception cref="RefusedException">It is too long: 400.</exception>
    public static byte[] ReadContentType(HttpContext http)
    {
        byte[] type = Encoding.UTF8.GetBytes(new QueryParameters(http).Text("contentType") ?? "");
        return AttachmentList.IsContentType(type)
            ? type
            : throw RefusedException.BadRequest(
                $"The parameter 'contentType' has {type.Length} bytes, and at most "
                    + $"{AttachmentList.MaxContentTypeBytes} are allowed. Send a shorter one."
            );
    }
}
