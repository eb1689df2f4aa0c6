using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven;

namespace Rookery.Server.Tests.Raven;

/// <summary>Rejections as RavenDB's clients understand them.</summary>
public sealed class RavenErrorsTests
{
    [Fact]
    public async Task A_database_deleted_during_a_write_is_named_in_a_header()
    {
        var http = new DefaultHttpContext();
        http.Request.RouteValues["database"] = "birds";
        await RavenErrors.WriteAsync(http, new Rejection(RejectionKind.DatabaseMissing, "It was deleted before."));
        Assert.Equal((503, "birds"), (http.Response.StatusCode, http.Response.Headers["Database-Missing"].ToString()));
    }

    [Fact]
    public async Task An_error_instead_of_a_file_has_not_the_name_of_the_file()
    {
        var http = new DefaultHttpContext();
        http.Response.Headers.ContentDisposition = "attachment; filename=birds.ravendbdump";
        await ErrorResponse.WriteAsync(http, 429, ErrorResponse.RavenException, "There is no memory now.");
        Assert.Empty(http.Response.Headers.ContentDisposition.ToString());
    }
}
