window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#document',
  validatorUrl: null,
  // The page may call its own server only, which may have another name in the document.
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.href)
    return Object.assign(request, { url: location.origin + pathname + search })
  },
  tryItOutEnabled: true,
  syntaxHighlight: { theme: 'monokai' },
  defaultModelsExpandDepth: 0,
})
